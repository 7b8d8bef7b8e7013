from __future__ import annotations

import os
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from envdoctor.adapters.index.credentials import without_credentials
from envdoctor.adapters.index.files import file_key
from envdoctor.adapters.index.index_settings import IndexSettings, IndexSettingsError, limits_in
from envdoctor.adapters.index.metadata_text import UnreadableMetadata, mend_python, mend_requirement, read_headers
from envdoctor.adapters.index.opening import checked
from envdoctor.adapters.index.page_listing import version_in
from envdoctor.adapters.index.pip_settings import builtin_index_url, read_pip_settings
from envdoctor.adapters.index.sdist import grade
from envdoctor.model.candidate import BuildRisk, DistributionFile, FileKind
from envdoctor.model.index_url import label_of, url_without_secrets


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("PyYAML (>=5.1.*)", "PyYAML>=5.1"),
        ("foo (>=1.0.0<2)", "foo>=1.0.0,<2"),
        ("foo>=2.0.*", "foo>=2.0"),
        ("foo>2.0.*", "foo>=2.0"),
        ("foo<=2.0.*", "foo<2.0"),
        ("foo<3.*", "foo<3"),
        ("foo~=2.0.*", "foo~=2.0"),
        ("foo==1.2*", "foo==1.2.*"),
        ("foo>=1.0;", "foo>=1.0"),
        ("foo[bar] (>=1.*) ; python_version < '3.6'", "foo[bar]>=1 ; python_version < '3.6'"),
        ("foo>='1.0'", "foo>=1.0"),
        ("foo >=1 <2 !=1.5", "foo>=1,<2,!=1.5"),
    ],
)
def test_legacy_lines_are_read_as_pip_used_to(line: str, mended: str) -> None:
    assert mend_requirement(line) == (mended, True)


@pytest.mark.parametrize("line", ["foo", "foo>=1,<2 ; extra == 'x'", "foo (>=1.0)", "foo @ https://a.example/b.whl"])
def test_valid_lines_stay(line: str) -> None:
    assert mend_requirement(line) == (line, False)


@pytest.mark.parametrize("line", ["", "foo bar", "==1", "foo>=", "foo>=1 and more", "foo ; nonsense"])
def test_lines_that_nobody_read(line: str) -> None:
    assert mend_requirement(line) is None


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        (">=3.6.*", ">=3.6"),
        (">=3.6", ">=3.6"),
        (">=2.7,!=3.0*", ">=2.7,!=3.0.*"),
        ("3.6", None),
        ("", None),
        (None, None),
    ],
)
def test_requires_python(text: str | None, mended: str | None) -> None:
    assert mend_python(text) == mended


@pytest.mark.parametrize(
    ("filename", "project", "version"),
    [
        ("Foo_Bar-1.0-py3-none-any.whl", "foo-bar", "1.0"),
        ("foo.bar-1.0-2-py3-none-any.whl", "foo-bar", "1.0"),
        ("foo-bar-1.0.tar.gz", "foo-bar", "1.0"),
        ("foo-bar-1.0-1.tar.gz", "foo-bar", "1.0.post1"),
        ("foo-2-1.0.zip", "foo-2", "1.0"),
        ("foo-1.0.dev-r5.tar.gz", "foo", None),
        ("foo-bar-1.0.tar.gz", "foo", None),
        ("foo-1.0-py3-none.whl", "foo", None),
        ("foo-1.0.linux-x86_64.tar.gz", "foo", None),
        ("foo-0.2.5.dev240914-cp311-cp311-win_amd64.whl", "foo", "0.2.5.dev240914"),
    ],
)
def test_versions_in_file_names(filename: str, project: str, version: str | None) -> None:
    assert version_in(filename, project, {}) == version


def test_headers_end_at_the_first_blank_line_and_fold() -> None:
    text = "Metadata-Version: 2.1\r\nName: x\r\nRequires-Dist: a;\r\n  extra == 'b'\r\n\r\nRequires-Dist: no\r\n"
    assert read_headers(text.encode()).requires_dist == ("a; extra == 'b'",)


def test_text_that_is_no_metadata() -> None:
    with pytest.raises(UnreadableMetadata):
        read_headers(b"<html><body>Not here</body></html>")


CACHED_WHEEL = """
class CachedWheelsCommand(_bdist_wheel):
    def run(self):
        urllib.request.urlretrieve(wheel_url, wheel_filename)

setup(ext_modules=[CUDAExtension(sources=["csrc/scan.cu"])], cmdclass={"bdist_wheel": CachedWheelsCommand})
"""
NESTED = "subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'libs'])"


@pytest.mark.parametrize(
    ("names", "texts", "risk"),
    [
        (["a.py"], {"setup.py": "setup()"}, BuildRisk.ANYWHERE),
        (["a.py"], {"pyproject.toml": '[build-system]\nbuild-backend = "wheel_stub.buildapi"'}, BuildRisk.FETCHES),
        (["a.py"], {"setup.py": f"class Own(install):\n    pass\n{NESTED}"}, BuildRisk.FETCHES),
        (["a.py"], {"setup.py": CACHED_WHEEL}, BuildRisk.FETCHES),
        (["a.py"], {"setup.py": f"class Own(install, object):\n    pass\n{NESTED}"}, BuildRisk.FETCHES),
        # At the top of the script it runs whatever is asked of it.
        (["a.py"], {"setup.py": "import os\nos.system('pip install torch')\nsetup()"}, BuildRisk.FETCHES),
        (
            ["a.py"],
            {"setup.py": "subprocess.check_call(\n    [sys.executable, '-m', 'pip', 'install', 'a'])"},
            BuildRisk.FETCHES,
        ),
        (["a.py"], {"setup.py": f"try:\n    import a\nexcept ImportError:\n    {NESTED}\nsetup()"}, BuildRisk.FETCHES),
        (["a.py"], {"setup.py": f"if not ready:\n    done = {NESTED}\nsetup()"}, BuildRisk.FETCHES),
        (
            ["a.py"],
            {"setup.py": f"def bring():\n    if True:\n        {NESTED}\n\nbring()\nsetup()"},
            BuildRisk.FETCHES,
        ),
        (["a.py"], {"setup.py": f"if sys.argv[-1] == 'publish':\n    {NESTED}\nsetup()"}, BuildRisk.ANYWHERE),
        (["a.py"], {"setup.py": "def upload():\n    os.system('pip install twine')\nsetup()"}, BuildRisk.ANYWHERE),
        (["a.py"], {"setup.py": "setup(long_description='pip install a')"}, BuildRisk.ANYWHERE),
        (["csrc/scan.cu"], {"setup.py": CACHED_WHEEL}, BuildRisk.COMPILER),
        (["a.py"], {"setup.py": "setup(version=urlopen(PAGE).read())"}, BuildRisk.ANYWHERE),
        (["a.py"], {"setup.py": f"class Own(Command):\n    def run(self):\n        {NESTED}"}, BuildRisk.ANYWHERE),
        (["a.py"], {"setup.py": "class Own(install):\n    pass\nsetup()"}, BuildRisk.ANYWHERE),
        (["src/a.c"], {"setup.py": "setup()"}, BuildRisk.COMPILER),
        (["tests/a.c"], {"setup.py": "setup()"}, BuildRisk.ANYWHERE),
        (["a.py"], {"setup.py": "# ext_modules\nsetup()"}, BuildRisk.ANYWHERE),
        (["a.py"], {"setup.py": "setup(ext_modules=cythonize('a.pyx'))"}, BuildRisk.COMPILER),
        (["a.py"], {"setup.py": "x = [CUDAExtension('a', ['a.cu'])]\nsetup(ext_modules=x)"}, BuildRisk.ANYWHERE),
        (["a.py", "a.cu"], {"setup.py": "setup(ext_modules=[CUDAExtension('a', ['a.cu'])])"}, BuildRisk.COMPILER),
        (["a.py"], {"setup.py": "setup(ext_modules=mypycify([Extension('a')]))"}, BuildRisk.COMPILER),
        (["src/lib.rs", "Cargo.toml"], {"pyproject.toml": '[build-system]\nrequires=["maturin"]'}, BuildRisk.COMPILER),
        (
            ["vendor/a.c"],
            {"pyproject.toml": '[build-system]\nbuild-backend = "flit_core.buildapi"'},
            BuildRisk.ANYWHERE,
        ),
        (["a.py"], {}, BuildRisk.UNKNOWN),
    ],
)
def test_build_risk(names: list[str], texts: dict[str, str], risk: BuildRisk) -> None:
    assert grade(names, texts) is risk


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("https://a.example/whl/cu118/", "cu118"),
        ("https://a.example/rocm6.3", "rocm6.3"),
        ("https://a.example/simple", None),
    ],
)
def test_labels_of_urls(url: str, label: str | None) -> None:
    assert label_of(url) == label


def test_cutoffs() -> None:
    for text, first in (("2026-11-27", "2026-11-28T00:00:00"), ("2026-11-27T12:00:00+02:00", "2026-11-27T10:00:01")):
        limit = limits_in(IndexSettings(exclude_newer=text)).everywhere
        assert limit is not None
        assert limit.first_too_new == first
    assert not limits_in(IndexSettings())


def test_credentials_are_struck_out() -> None:
    assert without_credentials("at https://u:p@a.example/x and http://b@c/") == "at https://a.example/x and http://c/"


@pytest.mark.skipif(os.name == "nt", reason="pip does not look at `XDG_CONFIG_HOME` there")
def test_pip_files_are_read_in_pips_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "system"))
    for variable in ("PIP_CERT", "PIP_PROXY", "PIP_CONFIG_FILE", "PIP_TRUSTED_HOST"):
        monkeypatch.delenv(variable, raising=False)
    for folder, text in (
        ("system", "[install]\nindex-url = https://one.example/\n[global]\ncert = b.pem\ntrusted_host = x\n  y\n"),
        (
            "config",
            "[global]\nindex-url = https://two.example/\ncert = a.pem\nproxy = p:1\nextra-index-url = https://never.example/\n",
        ),
    ):
        (tmp_path / folder / "pip").mkdir(parents=True)
        (tmp_path / folder / "pip" / "pip.conf").write_text(text)
    settings = read_pip_settings(tmp_path / "prefix")
    assert settings.index_url == "https://one.example/", "a command's section outranks [global]"
    assert (settings.cert, settings.proxy, settings.trusted_hosts) == ("a.pem", "p:1", ("x", "y"))
    monkeypatch.setenv("PIP_INDEX_URL", "https://three.example/")
    assert read_pip_settings(tmp_path).index_url == "https://three.example/"
    (tmp_path / "config" / "pip" / "pip.conf").write_text("no section")
    assert "pip.conf" in read_pip_settings(tmp_path).unreadable[0]
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert read_pip_settings(tmp_path).cert is None


def test_pips_own_default_is_found() -> None:
    url = builtin_index_url()
    assert url is not None
    assert url.startswith("https://")
    assert url.endswith("/simple/")


@pytest.mark.parametrize("blank", ["    ", "\t", "        \f"])
def test_a_folded_header_with_lines_of_spaces_does_not_end_the_headers(blank: str) -> None:
    head = f"Metadata-Version: 2.1\nName: demo\nLicense: one\n{blank}\n        two\n"
    text = f"{head}Requires-Dist: numpy\n\nRequires-Dist: no\n"
    assert read_headers(text.encode()).requires_dist == ("numpy",)
    assert read_headers(text.replace("\n", "\r\n").encode()).requires_dist == ("numpy",)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("https://u:p@a.example/x.whl", "https://a.example/x.whl"),
        ("https://a.example/x.whl?token=s3cret#sha256=0", "https://a.example/x.whl#sha256=0"),
        ("https://a.example/x.whl?X-Amz-Signature=s&X-Amz-Expires=9", "https://a.example/x.whl"),
        ("https://a.example/get?file=x.whl&access_token=s&sig=t", "https://a.example/get?file=x.whl"),
        ("https://a.example/get?file=a%20b.whl", "https://a.example/get?file=a%20b.whl"),
        ("file:///srv/x.whl", "file:///srv/x.whl"),
    ],
)
def test_what_is_written_down_of_a_url_holds_no_secret(given: str, written: str) -> None:
    assert url_without_secrets(given) == written


def test_a_file_without_a_hash_is_kept_under_a_key_without_its_signature() -> None:
    signed = "https://a.example/get?sig=s3cret"
    one, other = (
        file_key(DistributionFile(canonicalize_name(name[0]), Version("1"), name, FileKind.WHEEL, signed))
        for name in ("x-1.whl", "y-1.whl")
    )
    assert "s3cret" not in one
    assert one != other


def test_an_index_with_a_query_is_refused_and_not_quoted() -> None:
    with pytest.raises(IndexSettingsError, match="it has a query") as refused:
        checked("https://a.example/simple/?token=s3cret", "--index-url")
    assert "s3cret" not in str(refused.value)
