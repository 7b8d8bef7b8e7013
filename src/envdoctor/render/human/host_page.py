"""A machine as a person asks about it: system, Python, cards, toolkits, tools; what is absent in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from envdoctor.model.fact import Fact, FactState
from envdoctor.render.wording import count, fact_text

if TYPE_CHECKING:
    from envdoctor.render.human.console import Page, Span

__all__ = ["write_host"]

_CARD = re.compile(r"gpu\[(\d+)\]\.(.+)")
_TOOL = re.compile(r"tool\.(.+)\.(version|path)")
_LABEL = 9
_Known = Mapping[str, str]


def write_host(page: Page, facts: Sequence[Fact]) -> None:
    """Write the summary; a fact that has no place of its own stands in the last section."""
    told: set[str] = set()
    known = _Told({fact.name: fact_text(fact) for fact in facts if fact.state is FactState.KNOWN}, told)
    unknown = [fact for fact in facts if fact.state is FactState.UNKNOWN]
    sections = {
        "system": list(_system(known)),
        "python": list(_python(known)),
        "cards": list(_cards(known, unknown)),
        "toolkits": list(_toolkits(known)),
        "tools": list(_tools(known)),
        "set here": list(_variables(known)),
    }
    sections["more"] = [(name, value) for name, value in known.facts.items() if name not in told]
    sections["by hand"] = [(fact.name, f"set by {fact.overridden_by}") for fact in facts if fact.overridden_by]
    for title, rows in sections.items():
        _write_section(page, title, rows)
    for fact in unknown:
        if fact is unknown[0]:
            page.blank()
            page.line(("?", "warning"), (" not known", "strong"))
        page.line((fact.name, "strong"), f" {fact_text(fact)}", first="  ", rest="    ")
    _write_absent(page, [fact.name for fact in facts if fact.state is FactState.ABSENT])


class _Told:
    """The known facts as text, and which of them were told."""

    def __init__(self, facts: _Known, told: set[str]) -> None:
        self.facts = facts
        self._told = told

    def get(self, name: str, form: str = "{}") -> str:
        """Return a fact in a phrase, empty where it is not known."""
        self._told.add(name)
        return form.format(self.facts[name]) if name in self.facts else ""

    def names(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Return the known facts whose whole names match."""
        return [found for found in map(pattern.fullmatch, self.facts) if found]


def _write_section(page: Page, title: str, rows: Sequence[tuple[str, str]]) -> None:
    rows = [(label, text) for label, text in rows if text]
    if not rows:
        return
    page.blank()
    none = all(text.startswith("none") for _, text in rows)
    mark: Span = ("-", "dim") if none else ("✔", "good")
    page.line(mark, (f" {title}", "strong"))
    for label, text in rows:
        width = max(_LABEL, *(len(each) for each, _ in rows)) if len(label) <= page.width // 2 - 4 else len(label)
        page.line(text, first=f"  {label:<{width}}  ", rest=" " * (min(width, page.width // 2) + 4))


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _system(known: _Told) -> Iterator[tuple[str, str]]:
    name = " ".join(filter(None, (known.get("os"), known.get("arch"))))
    wsl = "in WSL" if known.get("host.wsl") == "yes" else ""
    macos = known.get("host.macos", "macOS {}")
    yield "system", _joined(name, macos, known.get("host.distribution"), wsl)
    yield "kernel", _joined(known.get("host.kernel"), known.get("host.glibc", "glibc {}"))
    yield (
        "board",
        _joined(
            known.get("host.jetson"),
            known.get("host.tegra"),
            known.get("host.jetpack", "JetPack {}"),
            known.get("host.l4t", "L4T {}"),
        ),
    )
    yield "memory", _joined(known.get("host.memory_bytes"), known.get("host.memory_available_bytes", "{} free"))
    yield "disk", known.get("host.disk_free_bytes", "{} free")


def _python(known: _Told) -> Iterator[tuple[str, str]]:
    version = known.get("python.version") or known.get("tool.python.version")
    yield "python", " ".join(filter(None, (version, known.get("tool.python.path", "at {}"))))
    yield (
        "torch",
        _joined(
            known.get("torch.version"),
            known.get("torch.cuda", "built with CUDA {}"),
            known.get("torch.arch_list", "for {}"),
            known.get("torch.is_available", "sees a card: {}"),
        ),
    )


def _cards(known: _Told, unknown: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    known.get("gpu.count")
    cards: dict[str, list[str]] = {}
    for found in known.names(_CARD):
        cards.setdefault(found[1], []).append(found[2])
    for number in sorted(cards, key=int):
        yield f"gpu[{number}]", _card(known, f"gpu[{number}].")
    if not cards and not any(fact.name.startswith("gpu") for fact in unknown):
        yield "cards", "none found"
        return
    yield "driver", _joined(known.get("driver.version"), known.get("driver.cuda", "for CUDA up to {}"))
    yield "amdgpu", known.get("amdgpu.version")
    devices = [found[0] for found in known.names(re.compile(r"device\..+"))]
    yield "devices", _joined(*(name.partition(".")[2] for name in devices if known.get(name)))


def _card(known: _Told, prefix: str) -> str:
    name = known.get(f"{prefix}name") or known.get(f"{prefix}vendor") or "a card without a name"
    known.get(f"{prefix}vendor")
    architecture = known.get(f"{prefix}architecture")
    capability = known.get(f"{prefix}compute_capability")
    return _joined(
        name,
        architecture or capability,
        known.get(f"{prefix}memory_bytes"),
        known.get(f"{prefix}memory_free_bytes", "{} free"),
        "split (MIG)" if known.get(f"{prefix}mig") == "yes" else "",
        known.get(f"{prefix}driver", "driver {}"),
        known.get(f"{prefix}driver_version", "driver {}"),
    )


def _toolkits(known: _Told) -> Iterator[tuple[str, str]]:
    compiler = known.get("tool.nvcc.version", "nvcc {}")
    yield "CUDA", _joined(known.get("cuda.toolkits"), f"{compiler}{known.get('tool.nvcc.path', ' at {}')}")
    yield "ROCm", _joined(known.get("rocm.version"), known.get("rocm.wsl_runtime", "WSL runtime {}"))
    yield "HIP SDK", known.get("hip_sdk.path")
    yield "ZLUDA", _joined(known.get("zluda.libraries"), known.get("zluda.hip_library", "asks for {}"))
    toolkits = ("cuda.toolkits", "tool.nvcc.version", "rocm.version", "hip_sdk.path", "zluda.libraries")
    if not any(map(known.facts.get, toolkits)):
        yield "CUDA, ROCm", "none found"


def _tools(known: _Told) -> Iterator[tuple[str, str]]:
    names = dict.fromkeys(found[1] for found in known.names(_TOOL) if found[1] not in ("python", "nvcc"))
    versions = []
    for name in names:
        known.get(f"tool.{name}.path")
        versions.append(f"{name} {known.get(f'tool.{name}.version') or '(version not known)'}")
    yield "programs", _joined(*versions)
    libraries = known.names(re.compile(r"(?:library|system)\.(.+)"))
    yield "libraries", _joined(*(f"{found[1]} ({known.get(found[0])})" for found in libraries))


def _variables(known: _Told) -> Iterator[tuple[str, str]]:
    for found in known.names(re.compile(r"environment\.(.+)")):
        yield found[1], known.get(found[0]) or "(empty)"


def _write_absent(page: Page, names: Sequence[str]) -> None:
    """Write what was looked for in vain: the programs and libraries by name, the rest as a number."""
    if not names:
        return
    short = dict.fromkeys(
        found[1] for found in map(re.compile(r"(?:tool|library)\.(.+?)(?:\.version|\.path)?").fullmatch, names) if found
    )
    page.blank()
    page.line(("-", "dim"), (" not there", "strong"))
    if short:
        page.line((", ".join(short), "dim"), first="  ")
    rest = sum(not name.startswith(("tool.", "library.")) for name in names)
    more = f"{count(rest, 'more thing')}; " if rest else ""
    page.line((f"{more}--verbose lists every fact with its source", "dim"), first="  ")
