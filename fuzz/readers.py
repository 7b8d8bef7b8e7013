"""Every reader, with inputs that were written for it and the errors that it announces."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from envdoctor.adapters.project.decoding import ProjectFileError
from envdoctor.adapters.project.reading import read_project
from envdoctor.ports import UsageError
from fuzz.binary_readers import binary_readers
from fuzz.places import ROOT, as_file, as_text, seeds
from fuzz.running import Reader

__all__ = ["all_readers"]

PROJECT_FILES = {
    "requirements": ("requirements.txt", "requirements"),
    "pyproject": ("pyproject.toml", "pyproject", "poetry"),
    "poetry": ("pyproject.toml", "poetry", "pyproject"),
    "setup.cfg": ("setup.cfg", "setup.cfg"),
    "setup.py": ("setup.py", "setup.py"),
    "environment.yml": ("environment.yml", "environment.yml"),
    "pixi": ("pixi.toml", "pixi"),
    "Pipfile": ("Pipfile", "Pipfile"),
    "poetry.lock": ("poetry.lock", "lock"),
    "uv.lock": ("uv.lock", "lock"),
    "pdm.lock": ("pdm.lock", "lock"),
    "install.sh": ("install.sh", "script"),
    "install.bat": ("install.bat", "batch"),
    "install.ps1": ("install.ps1", "powershell"),
    "Dockerfile": ("Dockerfile", "dockerfile"),
    "notebook": ("notebook.ipynb", "notebook"),
    "python script": ("script.py", "python script"),
}
"""By reader: the file's name, and whose inputs it takes."""
BESIDE = {"uv.toml": "uv.toml", "python-version": ".python-version"}
"""Files that are read with a project."""


def _pylock(text: str) -> None:
    from envdoctor.lock.joined import part_of
    from envdoctor.lock.pylock_reader import locked_project, read_pylock
    from envdoctor.model.target import Arch, OperatingSystem, Target

    document = read_pylock(text, "pylock.toml")
    for system in OperatingSystem:
        locked_project(part_of(document, Target(system, Arch.X86_64, (3, 11)), [(3, 12)]), "pylock.toml")


def all_readers() -> Iterator[Reader]:
    """Yield them all."""
    for name, (file, *kinds) in PROJECT_FILES.items():
        yield Reader(f"project {name}", as_file(read_project, "project", file), seeds(*kinds), (ProjectFileError,))
    for name, file in BESIDE.items():
        beside = as_file(_with_requirements, "project", file)
        yield Reader(f"project {name}", beside, seeds(name), (ProjectFileError,))
    yield from _own_files()
    yield from _texts_of_others()
    yield from _of_the_index()
    yield from _answers()
    yield from _configuration()
    yield from _installed()
    yield from binary_readers()


def _with_requirements(path: Path) -> object:
    (path.parent / "requirements.txt").write_text("numpy\n")
    return read_project(path.parent)


def _own_files() -> Iterator[Reader]:
    from envdoctor.adapters.apply.journal import read_journal
    from envdoctor.adapters.apply.records import read_record
    from envdoctor.diagnose.advisories.book import InvalidAdvisories, read_advisories, read_further
    from envdoctor.lock.pylock_reader import LockError
    from envdoctor.profile.load import parse_profile, validate
    from envdoctor.profile.validation import ProfileError
    from envdoctor.verbs.compare import between_reports, read_report
    from envdoctor.verbs.profile_cases import read_cases
    from envdoctor.verbs.project_inputs import load_settings

    profiles = tuple(path.read_bytes() for path in sorted((ROOT / "profiles").glob("*.toml")))
    advisories = (*seeds("advisories"), (ROOT / "advisories" / "amphion.toml").read_bytes())

    def compare(path: Path) -> None:
        report = read_report(path)
        if report is not None:
            other = read_report(Path(__file__).parent / "corpus" / "report" / "contract_example.json")
            between_reports(report, other or report)
            between_reports(report, report)

    def journal(path: Path) -> object:
        record = read_journal(path.parent)
        return record.state, record.begin, record.of_kind("end")

    def record(path: Path) -> object:
        (path.parent / "patches.json").write_bytes(path.read_bytes())
        found = read_record(path.parents[1])
        return found and [item.state for item in found.patched]

    parse = as_text(lambda text: parse_profile(text, "own.toml"))
    yield Reader("profile", parse, profiles, (ProfileError,))
    yield Reader("cases", as_file(read_cases, "own.cases.toml"), seeds("cases"), (UsageError,))
    others = as_file(lambda path: read_further([(path, path.name)]), "own.toml")
    theirs = tuple(text.replace(b'code = "ADV0', b'code = "ADV9') for text in advisories)
    yield Reader("advisories of others", others, theirs, (InvalidAdvisories,))
    yield Reader("profile file", as_file(lambda path: validate([str(path)]), "own.toml"), profiles)
    book = as_file(lambda path: read_advisories(path.parent), "book", "own.toml")
    yield Reader("advisories", book, advisories, (InvalidAdvisories,))
    yield Reader("pylock", as_text(_pylock), seeds("pylock"), (LockError,))
    yield Reader("report", as_file(compare, "report.json"), seeds("report", "facts"), (UsageError,))
    yield Reader("journal", as_file(journal, "events.jsonl"), seeds("journal"))
    yield Reader("record of a fix", as_file(record, ".envdoctor", "environment.json"), seeds("fix record", "facts"))
    yield Reader("settings", as_file(load_settings, "pyproject.toml"), seeds("pyproject"), (UsageError,))


def _texts_of_others() -> Iterator[Reader]:
    from envdoctor.adapters.probe import gpu_amd, gpu_nvidia, host_system, host_tools
    from envdoctor.adapters.probe.host_facts_file import FactsFileError, read_facts
    from envdoctor.adapters.probe.host_pastes import facts_of_paste
    from envdoctor.adapters.probe.listing import ListingError, read_listing
    from envdoctor.diagnose.engine import examine
    from envdoctor.diagnose.examination import Examination
    from envdoctor.diagnose.logs.log_findings import conflicts_of_log
    from envdoctor.verbs.pastes import read_log_file

    def log(path: Path) -> None:
        text = read_log_file(path)
        conflicts_of_log(text)
        list(examine(Examination(log=text)))

    def machine(text: str) -> None:
        gpu_nvidia.parse_proc_version(text)
        gpu_nvidia.parse_proc_information(text)
        gpu_nvidia.parse_nvml(text)
        gpu_nvidia.parse_smi(text)
        gpu_amd.parse_node(text)
        gpu_amd.parse_rocminfo(text)
        gpu_amd.parse_hip_path(text)
        host_system.parse_tegra_release(text)
        host_system.parse_meminfo(text)
        host_tools.parse_cuda_json(text)
        for tool in ("nvcc", "cmake", "gcc", "ninja", "git"):
            host_tools.parse_tool_version(tool, text)

    facts = as_text(lambda text: read_facts(text, "facts.json"))
    yield Reader("facts", facts, seeds("facts", "pastes"), (FactsFileError,))
    yield Reader("pastes", as_text(facts_of_paste), seeds("pastes", "listings"))
    listing = as_text(lambda text: read_listing(text, "installed.txt"))
    yield Reader("listings", listing, seeds("listings", "pastes"), (ListingError,))
    yield Reader("logs", as_file(log, "log.txt"), seeds("logs", "listings"), (UsageError,))
    from envdoctor.adapters.project.sources import CheckoutSources

    def sources(path: Path) -> object:
        return list(examine(Examination(sources=CheckoutSources(path.parent))))

    yield Reader("sources", as_file(sources, "project", "app.py"), seeds("sources", "python script"))
    yield Reader("machine texts", as_text(machine), seeds("machine texts", "pastes"))


def _answers() -> Iterator[Reader]:
    """Yield the reader of what a host sends: head and body, in pieces, packed."""
    import gzip
    import socket
    import time

    from envdoctor.adapters.index.connections import Connections
    from envdoctor.adapters.index.direct import DirectClient
    from envdoctor.adapters.index.exchange import Asked, Exchange, TransportError

    class Client(DirectClient):
        """Sends to a host that has said all that it will say."""

        data = b""

        def _connected(self, asked: Asked) -> socket.socket:  # noqa: ARG002 - always the same host
            ours, self.theirs = socket.socketpair()
            self.theirs.sendall(self.data[:100_000])
            self.theirs.shutdown(socket.SHUT_WR)
            return ours

    def answer(data: bytes) -> None:
        client = Client(lambda _url: None, 1, Connections())  # type: ignore[arg-type, return-value]
        client.data = data
        asked = Asked("http://index.example/simple/demo/", {}, 5.0, 5.0, time.monotonic() + 5.0)
        try:
            Exchange(client, asked, 1024 * 1024).perform()
        finally:
            client.theirs.close()
            client.close()

    body = b"<a href='demo-1.0.tar.gz'>demo</a>"
    head = b"HTTP/1.1 200 OK\r\nServer: a\r\nContent-Type: text/html\r\n"
    packed = gzip.compress(body)
    written = (
        head + b"Content-Length: %d\r\n\r\n" % len(body) + body,
        head + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed,
        head
        + b"Transfer-Encoding: chunked\r\n\r\n5\r\n"
        + body[:5]
        + b"\r\n1d;x=y\r\n"
        + body[5:]
        + b"\r\n0\r\na: b\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n" + body,
        b"HTTP/1.1 100 Continue\r\n\r\n" + head + b"Content-Encoding: x-gzip\r\n\r\n" + packed + packed,
        b"HTTP/1.1 302 Found\r\nLocation: ftp://other.example/\r\nContent-Length: 0\r\n\r\n",
        b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
    )
    yield Reader("answer of a host", answer, written, (TransportError,))


def _of_the_index() -> Iterator[Reader]:
    from packaging.utils import canonicalize_name
    from packaging.version import Version

    from envdoctor.adapters.index.metadata_text import UnreadableMetadata, read_headers, read_requires_txt, record_of
    from envdoctor.adapters.index.page_codec import decode_page
    from envdoctor.adapters.index.page_encoding import encode_page
    from envdoctor.adapters.index.page_listing import NotAListing, read_listing
    from envdoctor.adapters.index.setup_conditions import Unforeseeable, with_conditions
    from envdoctor.model.candidate import MetadataSource
    from envdoctor.model.target import Arch, OperatingSystem, Target
    from envdoctor.resolve.requires_dist import MetadataLines

    target = Target(OperatingSystem.LINUX, Arch.X86_64, (3, 11))
    name = canonicalize_name("demo")

    def page(data: bytes, kind: str) -> None:
        found = read_listing(data, kind, "https://index.example/simple/demo/", name)
        page = decode_page(encode_page(found), name, "default")
        for file in page.files:
            str(file.version)

    def metadata(data: bytes) -> None:
        headers = read_headers(data)
        found = record_of(headers.requires_dist, headers.requires_python, headers.provides_extra, MetadataSource.WHEEL)
        assert type(found).decode(found.encode()) == found
        lines = MetadataLines(target, {})
        core = found.named(name, Version("1.0"))
        for extra in ("", "gpu"):
            lines.wanted(core, extra)
        lines.doubtful_in(core)

    yield Reader("page html", lambda data: page(data, "text/html"), seeds("page html"), (NotAListing,))
    kind = "application/vnd.pypi.simple.v1+json"
    yield Reader("page json", lambda data: page(data, kind), seeds("page json"), (NotAListing,))
    yield Reader("metadata", metadata, seeds("metadata"), (UnreadableMetadata,))
    yield Reader("requires.txt", as_text(read_requires_txt), seeds("requires.txt"))
    script = as_text(lambda text: with_conditions(("numpy", "colorama>=0.4", "uvloop"), text))
    yield Reader("setup.py of an sdist", script, seeds("setup.py"), (Unforeseeable,))


def _configuration() -> Iterator[Reader]:
    from envdoctor.adapters.apply.snapshot import load_listing
    from envdoctor.adapters.index.pip_settings import read_pip_settings
    from envdoctor.adapters.index.project_indexes import read_uv_configuration
    from envdoctor.adapters.index.recording_reader import BadRecording, read_about, read_document
    from envdoctor.adapters.probe.host_overrides import read_overrides

    def uv(path: Path) -> object:
        # What runs after it in this process, a test of locks say, must not read the fuzzers' file.
        with patch.dict(os.environ, {"UV_CONFIG_FILE": str(path)}):
            return read_uv_configuration()

    def overrides(text: str) -> object:
        rows = (row.partition("=") for row in text.splitlines())
        return read_overrides({name: value for name, _, value in rows})

    recorded = ROOT / "examples" / "song-maker" / "recorded-index"
    documents = tuple((recorded / name).read_bytes() for name in ("py3langid.json", "easydict.json"))
    about = ((recorded / "recording.json").read_bytes(),)
    pip = as_file(lambda path: read_pip_settings(path.parent), "pip.conf")
    yield Reader("pip.conf", pip, seeds("pip.conf"))
    yield Reader("uv configuration", as_file(uv, "uv.toml"), seeds("uv.toml"))
    yield Reader("variables", as_text(overrides), seeds("variables"))
    yield Reader("recorded index", as_file(lambda p: read_about(p.parent), "recording.json"), about, (BadRecording,))
    yield Reader("recorded project", as_file(read_document, "demo.json"), documents, (BadRecording,))
    yield Reader("listing of a fix", as_file(load_listing, "before.json"), seeds("listing of a fix"), (ValueError,))


def _installed() -> Iterator[Reader]:
    from envdoctor.adapters.probe.environment_layout import read_pyvenv
    from envdoctor.adapters.probe.environment_metadata import parse_headers, read_egg_requires
    from envdoctor.adapters.probe.environment_scan import read_conda_packages
    from envdoctor.adapters.probe.installed_environment import read_environment
    from envdoctor.diagnose.engine import examine
    from envdoctor.diagnose.examination import Examination

    def environment(path: Path) -> object:
        for name in ("METADATA", "RECORD"):
            if path.name != name:
                (path.parent / name).write_bytes(seeds(name.lower())[0])
        return list(examine(Examination(environment=read_environment(path.parents[1], ask=False))))

    for file in ("METADATA", "RECORD"):
        reading = as_file(environment, "site-packages", "demo-1.0.dist-info", file)
        yield Reader(f"installed {file}", reading, seeds(file.lower()))
    yield Reader("installed headers", parse_headers, seeds("metadata"))
    yield Reader("egg requires.txt", read_egg_requires, seeds("requires.txt"))
    conda = as_file(lambda path: read_conda_packages(path.parents[1]), "conda-meta", "pytorch-2.1.0-py3.10_0.json")
    yield Reader("conda-meta", conda, seeds("conda-meta"))
    yield Reader("pyvenv.cfg", as_file(read_pyvenv, "pyvenv.cfg"), seeds("pyvenv.cfg"))
