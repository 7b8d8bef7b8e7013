"""A machine as a person asks about it, and the facts, kernels and placement of a report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from envdoctor.model.fact import Fact, FactState
from envdoctor.model.kernel import KernelResult, KernelStatus, Placement
from envdoctor.render.human.console import Page, Span
from envdoctor.render.wording import count, fact_text, milliseconds, rate_text, size, speed_up

__all__ = ["write_facts", "write_host", "write_kernels", "write_placement"]

_CARD = re.compile(r"gpu\[(\d+)\]\.(.+)")
_TOOL = re.compile(r"^tool\.(.+)\.(version|path)")
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


_BAR_CELLS = 6
_FOLD_AT = 4
_NARROW = 64
"""Below this width columns leave no room for words."""
_DROPPED = ("peak memory", "device", "rate", "first")
"""Columns that a narrow terminal does without, first to last; the other formats have them all."""


def write_kernels(page: Page, kernels: Sequence[KernelResult]) -> None:
    """Write each kernel with its status, error and figures, and its speed-up over the CPU as a bar."""
    if not kernels:
        return
    page.blank()
    page.line(("kernels", "strong"), " (speed-up: over the same operation on the CPU)")
    fastest = max((speed_up(result) or 0.0 for result in kernels), default=0.0)
    several = len({result.device for result in kernels} - {"cpu", "none"}) > 1
    dropped = [name for name in _DROPPED if not (several and name == "device")]
    shown, folded = _folded(kernels, verbose=page.verbose)
    page.table(*_columns(page, [_cells(page, result, fastest) for result in shown], dropped), 2)
    for result in shown:
        told = [f"passed only with {result.setting}" if result.setting else "", result.detail or ""]
        if any(told):
            page.line(f"{result.kernel} on {result.device}: {'; '.join(filter(None, told))}", first="  - ")
    for reason, number in folded.items():
        page.line(f"{number} more skipped: {reason}", first="  - ")


def _folded(kernels: Sequence[KernelResult], *, verbose: bool) -> tuple[list[KernelResult], dict[str, int]]:
    """Return the kernels to show, and how many others were skipped for each reason that many share."""
    reasons = Counter(item.detail or "" for item in kernels if item.status is KernelStatus.SKIPPED)
    folded = {} if verbose else {reason: number for reason, number in reasons.items() if number >= _FOLD_AT}
    shown = [item for item in kernels if item.status is not KernelStatus.SKIPPED or (item.detail or "") not in folded]
    return (shown, folded) if shown else (list(kernels), {})


def _columns(
    page: Page, cells: Sequence[dict[str, Span]], droppable: Sequence[str]
) -> tuple[list[str], list[list[Span]]]:
    """Return the table with as many columns as fit; a column without a value is left out."""
    names = [name for name in cells[0] if any(row[name] for row in cells)]
    for dropped in (None, *droppable):
        names = [name for name in names if name != dropped]
        rows = [[row[name] for name in names] for row in cells]
        if page.fits(names, rows, 2):
            break
    return names, rows


def _cells(page: Page, result: KernelResult, fastest: float) -> dict[str, Span]:
    style = "good" if result.status is KernelStatus.PASSED else "error" if result.failed else "dim"
    ratio = speed_up(result)
    return {
        "kernel": (result.kernel, "strong"),
        "device": result.device,
        "status": (result.status.value, style),
        "error": f"{result.error_relative:.1e}" if result.error_relative is not None else "",
        "first": milliseconds(result.first_ms) if result.first_ms is not None else "",
        "time": milliseconds(result.steady_ms) if result.steady_ms is not None else "",
        "speed-up": f"{ratio:.1f}x {page.bar(ratio / fastest, _BAR_CELLS)}" if ratio is not None else "",
        "rate": rate_text(result),
        "peak memory": size(result.peak_bytes) if result.peak_bytes else "",
    }


def write_placement(page: Page, placement: Sequence[Placement]) -> None:
    """Write where each component should run, and why."""
    if not placement:
        return
    page.blank()
    page.line(("placement", "strong"))
    for item in placement:
        because = f", because {'; '.join(item.because)}" if item.because else ""
        page.line((item.component, "strong"), f" runs on {item.device}{because}", first="  ", rest="    ")


def write_facts(page: Page, facts: Sequence[Fact]) -> None:
    """Write each fact with its value and what answered; what was looked for in vain is said too."""
    if not facts:
        return
    page.blank()
    page.line(("facts", "strong"))
    names = min(max(len(fact.name) for fact in facts), page.width // 2 - 4)
    for fact in facts:
        told: tuple[Span, ...] = (
            (fact_text(fact), "" if fact.state is FactState.KNOWN else "dim"),
            (_answered(fact), "dim"),
        )
        if page.width < _NARROW or len(fact.name) > names:
            page.line((fact.name, "strong"), first="  ", rest="    ")
            page.line(*told, first="    ", rest="      ")
        else:
            page.line(*told, first=f"  {fact.name:<{names}}  ", rest=" " * (names + 4))


def _answered(fact: Fact) -> str:
    if fact.overridden_by:
        measured = f", in place of {fact.source}" if fact.source else ""
        return f" [set by {fact.overridden_by}{measured}]"
    return f" [{fact.source}]" if fact.source else ""
