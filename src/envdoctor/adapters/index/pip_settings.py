"""What pip's configuration and variables say about an index, its built-in default, and the proxies that requests take.

A proxy is looked at before the first request: what cannot be one is said where it is set.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from envdoctor.adapters.ini_text import read_ini
from envdoctor.adapters.read_files import read_file
from envdoctor.adapters.user_folders import home
from envdoctor.model.dataclass import dataclass
from envdoctor.model.index_url import url_fault
from envdoctor.model.origin import FileOrigin
from envdoctor.model.project import BUILD_ISOLATION, NO_BUILD_ISOLATION, FileOption, pips_isolation, says_yes
from envdoctor.model.upload_limit import PIPS_LIMIT

if TYPE_CHECKING:
    from configparser import RawConfigParser

__all__ = [
    "LARGEST_SETTINGS",
    "PipSettings",
    "builtin_index_url",
    "proxy_fault",
    "proxy_url",
    "proxy_variable",
    "read_pip_settings",
]

LARGEST_SETTINGS = 4 * 1024 * 1024
"""Bytes of a file of pip's or uv's settings."""
_SCHEMES = ("http", "https", "socks5", "socks5h")
_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")


def proxy_url(text: str) -> str:
    """Return a proxy as a URL; ``host:port`` is taken to speak HTTP."""
    return text if "://" in text else f"http://{text}"


def proxy_fault(pips: str | None) -> str | None:
    """Return what is wrong with the first proxy that cannot be one, and what to do; None where all can."""
    named = [("pip's `proxy`", pips)] if pips else []
    for source, text in [*named, *((f"`{name}`", value) for name, value in _in_environment())]:
        fault = _fault(proxy_url(text))
        if fault is not None:
            return f"{source} does not name a proxy: {fault}; set it to `http://HOST:PORT`, or take it away"
    return None


def proxy_variable(pips: str | None, scheme: str) -> str | None:
    """Return what names the proxy for URLs of a scheme, None where nothing does. Exceptions are not looked at."""
    if pips:
        return "pip's `proxy`"
    names = {name.lower(): name for name, _ in _in_environment()}
    found = names.get(f"{scheme}_proxy") or names.get("all_proxy")
    return f"`{found}`" if found else None


def _in_environment() -> list[tuple[str, str]]:
    """Return the variables that are set, the lower-case spelling where both are."""
    found = []
    spelled = set(os.environ)  # Windows finds them in any case, and lists them in capitals.
    for name in _VARIABLES:
        spelling = next((each for each in (name, name.upper()) if each in spelled and os.environ[each]), None)
        if spelling is not None:
            found.append((spelling, os.environ[spelling]))
    return found


def _fault(url: str) -> str | None:
    fault = url_fault(url, _SCHEMES)
    if fault is None and url.startswith("socks") and find_spec("socksio") is None:
        return "a SOCKS proxy takes the package `socksio`, which is not installed beside envdoctor"
    return fault


_KEYS = (
    "index-url",
    "cert",
    "client-cert",
    "proxy",
    "trusted-host",
    "extra-index-url",
    "find-links",
    "no-index",
    "keyring-provider",
    PIPS_LIMIT,
    NO_BUILD_ISOLATION,
)
_CONSTANT = re.compile(r"^PyPI\s*=\s*PackageIndex\(\s*[\"'](https?://[^\"']+)[\"']", re.MULTILINE)
_MODULE = "pip/_internal/models/index.py"


@dataclass(frozen=True, slots=True)
class PipSettings:
    """The options that concern an index, of pip, or of uv by pip's names."""

    index_url: str | None = None
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    trusted_hosts: tuple[str, ...] = ()
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    keyring: bool = True
    """Whether the keyring may be asked for a user's password."""
    unreadable: tuple[str, ...] = ()
    """Configuration files that are there and could not be read, each with the reason."""
    places: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By option: the file or the variable that sets it."""
    options: tuple[FileOption, ...] = ()
    """What bears on the files that may be chosen, the strongest first; the path is the file's, or the variable."""


def read_pip_settings(prefix: Path | None = None) -> PipSettings:
    """Read pip's files and ``PIP_*`` variables as ``pip install`` would. Never raises."""
    values: dict[tuple[str, str], tuple[str, str]] = {}
    unreadable: list[str] = []
    for path in _files(prefix or Path(sys.prefix)):
        try:
            parser = _parsed(read_file(path, LARGEST_SETTINGS).decode())
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            unreadable.append(f"{path}: {str(error).splitlines()[0]}")
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                options = parser.items(section)
                values.update({(section, key.replace("_", "-")): (text, str(path)) for key, text in options})
    # A command's own section outranks [global] of whichever file; a variable outranks both.
    settled = {key: values.get(("install", key), values.get(("global", key))) for key in _KEYS}
    for key in _KEYS:
        variable = "PIP_" + key.upper().replace("-", "_")
        if os.environ.get(variable):
            settled[key] = os.environ[variable], variable
    found = {key: value[0] if value else None for key, value in settled.items()}
    return PipSettings(
        index_url=(found["index-url"] or "").strip() or None,
        cert=found["cert"],
        client_cert=found["client-cert"],
        proxy=found["proxy"],
        trusted_hosts=tuple((found["trusted-host"] or "").split()),
        extra_index_urls=tuple((found["extra-index-url"] or "").split()),
        find_links=tuple((found["find-links"] or "").split()),
        no_index=says_yes(found["no-index"] or ""),
        keyring=(found["keyring-provider"] or os.environ.get("UV_KEYRING_PROVIDER")) != "disabled",
        unreadable=tuple(unreadable),
        places={key: value[1] for key, value in settled.items() if value},
        options=tuple(_options(settled)),
    )


def _options(settled: Mapping[str, tuple[str, str] | None]) -> Iterator[FileOption]:
    """Yield what bears on the files that may be chosen, and on how they are built."""
    text, place = settled[PIPS_LIMIT] or ("", "")
    if text:
        yield FileOption(PIPS_LIMIT, text, FileOrigin(place))
    text, place = settled[NO_BUILD_ISOLATION] or ("", "")
    isolated = pips_isolation(text)
    if isolated is not None:
        yield FileOption(
            BUILD_ISOLATION if isolated else NO_BUILD_ISOLATION, text if isolated else "", FileOrigin(place)
        )


def _parsed(text: str) -> RawConfigParser:
    """Return the sections of a file. Raises ValueError."""
    import configparser  # most people have no such file, and a hook pays for what it imports

    parser = configparser.RawConfigParser()
    try:
        read_ini(parser, text)
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    return parser


def _files(prefix: Path) -> Iterator[Path]:
    """Yield pip's configuration files, the weakest first."""
    explicit = os.environ.get("PIP_CONFIG_FILE")
    if explicit == os.devnull:
        return
    user = Path(home())
    if sys.platform == "win32":
        yield Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData")) / "pip" / "pip.ini"
        yield user / "pip" / "pip.ini"
        yield Path(os.environ.get("APPDATA", user / "AppData" / "Roaming")) / "pip" / "pip.ini"
        yield prefix / "pip.ini"
    else:
        yield from _posix_files(user)
        yield prefix / "pip.conf"
    if explicit:
        yield Path(explicit)


def _posix_files(user: Path) -> Iterator[Path]:
    config_home = Path(os.environ.get("XDG_CONFIG_HOME") or user / ".config")
    if sys.platform == "darwin":
        yield Path("/Library/Application Support/pip/pip.conf")
        yield user / ".pip" / "pip.conf"
        application = user / "Library" / "Application Support" / "pip"
        yield (application if application.is_dir() else config_home / "pip") / "pip.conf"
        return
    for folder in reversed((os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")):
        yield Path(folder) / "pip" / "pip.conf"
    yield Path("/etc/pip.conf")
    yield user / ".pip" / "pip.conf"
    yield config_home / "pip" / "pip.conf"


def builtin_index_url() -> str | None:
    """Return the index that pip asks where nothing is configured, read as text from pip's own source.

    Looks at the pip of this interpreter, the one that ``ensurepip`` carries, then at pips on ``PATH``.
    None where there is no pip at all.
    """
    for text in _pip_sources():
        match = _CONSTANT.search(text)
        if match:
            return match.group(1).rstrip("/") + "/simple/"
    return None


def _pip_sources() -> Iterator[str]:
    spec = find_spec("pip")
    for location in (spec.submodule_search_locations or []) if spec else []:
        yield from _text(Path(location).parent / _MODULE)
    bundled = find_spec("ensurepip")
    folders = [Path(place) / "_bundled" for place in (bundled.submodule_search_locations or [])] if bundled else []
    for folder in [*folders, Path("/usr/share/python-wheels")]:
        for wheel in sorted(folder.glob("pip-*.whl"), reverse=True):
            yield from _text_in_wheel(wheel)
    import shutil

    for name in ("python3", "python"):
        found = shutil.which(name)
        if found:
            yield from _text_by_child(found)


def _text(path: Path) -> Iterator[str]:
    try:
        yield read_file(path, LARGEST_SETTINGS).decode()
    except (OSError, UnicodeDecodeError):
        return


def _text_in_wheel(wheel: Path) -> Iterator[str]:
    import zipfile

    try:
        with zipfile.ZipFile(wheel) as archive:
            yield archive.read(_MODULE).decode("utf-8")
    except (OSError, KeyError, UnicodeDecodeError, zipfile.BadZipFile):
        return


def _text_by_child(python: str) -> Iterator[str]:
    import subprocess

    program = "import importlib.util as u; print((u.find_spec('pip').submodule_search_locations or [''])[0])"
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter found on PATH, with a fixed program
            [python, "-I", "-c", program], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return
    if done.returncode == 0 and done.stdout.strip():
        yield from _text(Path(done.stdout.strip()).parent / _MODULE)
