"""The lines of a log that tell of a failure, whatever failed: what a person would point at.

A line counts where a program stopped or refused: a traceback's last line, an error of a compiler, a linker, an
installer, a crash. What its writer calls a warning, what was caught and followed by success, and what a text quotes
does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from envdoctor.diagnose.logs.got_over import Course, course_of, is_typed
from envdoctor.diagnose.logs.log_lines import EXCEPTIONS, LogLine, lines_of_log, plain
from envdoctor.diagnose.logs.quoted_lines import is_quoted
from envdoctor.model.dataclass import dataclass
from envdoctor.model.finding import Severity

__all__ = ["LogFailure", "course_of_log", "failures_of", "is_exception"]

_NEAR = 12
"""Lines; what stands so near belongs to the same failure."""
_MOST = 60
"""Failures of one log that are looked at, the last ones."""
_LONGEST_TRACEBACK = 2000
_LONGEST_QUOTE = 300

_MAY_TELL = re.compile(
    r"rror|ERR|xception|raceback|\bE: |ault\b|FAIL|[Ff]ailed|[Ff]atal"
    r"|FATAL|bort|Killed|dumped|panick|terminat|CRITICAL|SEVERE"
    r"|what\(\)|corruption|free\(\)|malloc\(\)|smashing|llegal (?:hardware )?"
    r"instr|exit (?:code|status)|exited with|non-zero|not found"
    r"|not recognized|denied|ImportError|Assertion|dyld|undefined|cannot find|No such file|unsatisfiable|No solution"
    r"|[Cc]ould not|FAIL|unsatisfied|\[E:|Check f|Conflict|Timeout|NotFound"
    r"|cannot be loaded|Cannot find|Cannot import|E\d{4} \d\d:|\b[EF] [\w./-]+:\d+\] "
    r"|panic:|no matching|process exited|\.exc\.|\[[EF](?:\d{3,4})?[\] ]|violation|Failure|LoadFile|Speicherz|segment"
    r"|Abgebr|\u6bb5\u9519\u8bef|curl: \(|ouldn't launch|: Fail|BackendUnavailable|no such option"
)
"""One of these stands in whatever is taken for a failure below."""
_EXCEPTION = re.compile(
    rf"(?:[A-Za-z_]\w*\.)*(?:(?:_?[A-Z]\w*)?{EXCEPTIONS}|(?:exc|errors|exceptions)\.[A-Z]\w*)(?::(?:\s|$)|$)"
)
_NO_FAILURE = re.compile(r"(?:\w+\.)*(?:KeyboardInterrupt|SystemExit|GeneratorExit|StopIteration|CancelledError)\b")
_CRASH = (
    r"(?:[\w./-]+: )*(?:line \d+: *)?(?:\d+ +)?"
    r"(?:[Ss]egmentation fault|[Bb]us error|[Ii]llegal (?:hardware )?instruction|[Ff]loating point exception"
    r"|[Aa]borted|[Aa]bort trap|[Kk]illed|[Tt]race/breakpoint trap|[Aa]bort(?= {2}|$)"
    r"|Speicherzugriffsfehler|Abgebrochen|Erreur de segmentation|Violaci\u00f3n de segmento|\u6bb5\u9519\u8bef)"
    r"(?:: \d+)?(?: +\((?:core dumped|SIG\w+|Speicherabzug geschrieben)\))?(?:$| {2,}| +(?:\S*python|\./|sudo)\S*)"
)
_OF_A_NODE = r"(?:- +)?\d[\d.]* seconds? \(IMPORT FAILED\): |Cannot import .{1,300} module for custom nodes: "
"""A part of ComfyUI that was left out: the program goes on without it, and nothing gets over that."""
_TELLING = re.compile(
    "|".join(
        (
            _CRASH,
            r"onnxruntime\.[\w.]+\.[A-Z]\w+: ",
            r"Fatal Python error: ",
            # What Windows' own libraries, MLIR and the CUDA calls of bitsandbytes print.
            r"\S.{0,300}\(caller: [0-9A-F]{8,16}\) (?:Exception|FailFast)\(\d+\) tid\(\w{1,8}\) [0-9A-F]{8}\b",
            r'loc\("[^"]{0,300}"(?::\d+:\d+)?\): error: ',
            r"Error .{1,80} at line \d+ in file \S+\.(?:cu|hip)\b",
            r"Windows fatal exception: ",
            r"terminate called ",
            r"libc\+\+abi: ",
            r"what\(\): ",
            r"(?:F\d{4} \d\d:\d\d:\d\d\S* +\d+|(?:\d[\d:. -]+: )?F) \S+:\d+\] ",
            # llama.cpp and what is made of ggml.
            r"(?:ggml|llama|clip|whisper)_\w+: (?:error\b|failed to (?:load|initiali[sz]e|allocate|create)\b)",
            r"(?:\S+ )?Check failed: ",
            r"(?:\d[\d:. -]+: )?[IWE] \S+:\d+\] OP_REQUIRES failed at \S+ : (?!OUT_OF_RANGE|CANCELLED|Out of|Canc)",
            (
                r"(?:double free or corruption|free\(\): |malloc\(\): "
                r"|corrupted size vs|munmap_chunk\(\)|\*\*\* stack smashing)"
            ),
            r"\S.{0,200}: Assertion [`'].+ failed",
            r"Assertion failed",
            r"(?:FAILED|ERROR) \S{1,200}\.py(?:::\S|$| - )",
            r"(?:CUDA|HIP|ROCm|SYCL|cuDNN|CUBLAS|NCCL|MIOpen|OpenCL|Vulkan)(?: \w+)? [Ee]rror\b.{0,3}:",
            (
                r"(?:OMP: Error|rocBLAS error:|hipBLASLt error:"
                r"|nvidia-container-cli: |NVIDIA-SMI has failed|FAIL : |\*+ EP Error|\[E:onnxruntime)"
            ),
            r"Could not (?:locate|load|find) \S+\.(?:dll|so|dylib)\b",
            r"pkg-config could not find ",
            r"\S.{0,300}: RuntimeWarning: You will not be able to run predict\(\) on this Core ML model",
            r"\{.*\"level\": ?\"(?:error|fatal|critical)\"",
            r"(?:\S+: )?error while loading shared libraries: ",
            r"(?:\S+: )?symbol lookup error: ",
            r"dyld(?:\[\d+\])?: (?:Library|Symbol|missing)",
            # Compilers, linkers and what drives them.
            r"(?:[A-Za-z]:)?[^\s:(]+(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)) ?: (?:fatal )?error\b",
            (
                r"(?:LINK|LIB|cl|nvcc|ptxas|ptxas-\w+|clang|clang\+\+|hipcc|gcc|g\+\+|cc1plus|ld|ld\.lld|lld-link) ?: "
                r"(?:Command line )?(?:fatal )?error\b"
            ),
            r"(?:nvcc|ptxas(?:-\w+)?) +(?:fatal|error) +: ",
            r"fatal error ?\w*: ",
            r"error\[E\d+\]: ",
            r"\S*ld: cannot find ",
            r".{0,200}: undefined reference to ",
            r"CMake Error\b",
            r"ninja: (?:error|fatal): ",
            # Installers and solvers.
            r"E: [A-Z]\w+ |no such option: |(?:\w+\.)*BackendUnavailable\b|InvalidArchiveError\(",
            r"(?:HSA exception: |HW Exception by GPU)",
            r"[×x✗] (?:No solution found|Failed to|Unable to|Missing|Dependency)",
            r"(?:So, because|Because) .*version solving failed",
            r"Solving environment: (?:- )?failed(?! with)",
            r"(?:error|critical) +libmamba ",
            r"\[ResolutionImpossible\]",
            r"npm (?:ERR!|error) ",
            # Shells, other languages.
            r"thread '.*' panicked at",
            r"panic: ",
            r"Exception in thread ",
            r"Unhandled [Ee]xception",
            (
                r"(?:-?(?:bash|zsh|sh|fish|dash)|\S*/(?:bash|sh)): .*(?:not"
                r" found|No such file or directory|Permission denied)"
            ),
            r"[\w.+-]+: command not found$|curl: \((?!0\))\d+\) |failed to create process\.$|Couldn't launch python$",
            r"(?:qt\.qpa\.plugin: )?Could not (?:load|find) the Qt platform plugin |(?:slurmstepd|srun): error: ",
            r"'[^']+' is not recognized as an internal or external command",
            r"\S+ ?: The term '[^']+' is not recognized",
            r"\S*python[\d.]*(?:\.exe)?: (?:can't open file|No module named|Error while)",
            r"The system cannot find the (?:path|file|drive)(?: specified)?\.",
            r"(?:docker: )?(?:Error response from daemon|no matching manifest for)|(?:exec|standard).* format error",
            r"[a-z]\w*(?:\.\w+)*\.error: |[\w./\\ -]{1,80}: error: (?:argument |unrecognized arg|the following arg)",
            r"[\w.\\-]+ : (?:.* )?(?:cannot be loaded|Cannot find|Access to the path|is not recognized)",
            r"(?:FATAL|[Ff]atal)(?: ?:|\]) ?\S",
            r"Error occurred when executing",
            r"Error\(s\) in loading state_dict",
            _OF_A_NODE,
            r"(?:ERROR|Error|error|CRITICAL)(?: ?: ?|\[|:\w[\w.]*:)\s*(?![-+\d.e%]+(?:\s|$|,))\S",
        )
    )
)
_WRAPPER = re.compile(
    r"(?:[\w.]+\.)?(?:CalledProcessError|ChildFailedError|CompileError|ProcessExitedException)\b"
    r"|RuntimeError: Error (?:compiling|building)|error: subprocess-exited-with-error|error: metadata-generation-failed"
    r"|error: (?:legacy-install-failure|failed-wheel-build|command"
    r" '.*' failed)|error: Failed to (?:build|prepare|download)"
    r"|ERROR: (?:Failed (?:building|to build)|Could not build wheels|Exception:|Command errored|failed to solve)"
    r"|(?:[×x✗] )?Failed to build |ninja: build stopped|make(?:\[\d+\])?: \*\*\*|FAILED: |collect2: error"
    r"|Process finished with exit code (?!0\b)|.{0,80}\bexited with (?:exit )?(?:code|status):? (?!0\b)-?\w"
    r"|.{0,80}\breturned (?:a )?non-zero|.{0,40}\bexit (?:code|status):? (?!0\b)-?\d+$|\[end of output\]"
    r"|Failed to (?:compile|execute|load|import|start|initiali[sz]e)\b.*|(?:\w+ ){0,3}[Aa]borted\b"
    r"|.{0,120}\bSee root cause above|\S+\.service: (?:Main process exited, code=(?!\w+, status=0/)|Failed with )"
    r"|=+ (?:[\w ]{1,20}, ){0,5}\d+ (?:failed|errors?)\b.{0,80} in \d"
)
"""What only says that something inside failed."""
_CAUSE_BELOW = "(look up to see its traceback):"
"""How transformers and diffusers end the line before the cause."""
_NOTHING = re.compile(
    r"ERROR: pip's dependency resolver does not currently"
    r"|(?i:errors?: (?:0|none|false|null)\b)|fatal: [Nn]o names found"
    # Of onnxruntime's threads, of the loader, of ComfyUI's manager without a network and of asyncio on Windows.
    r"|\[E:onnxruntime:\S*, env\.cc:\d+ \w+\] pthread_setaffinity_np failed"
    r"|ERROR: ld\.so: object '.*' from LD_PRELOAD cannot be preloaded .*: ignored"
    r"|(?:\[ComfyUI-Manager\] )?(?:ERROR: )?Failed to perform initial fetching '"
    r"|Exception in callback _Proactor\w+\._call_connection_lost"
    # vLLM takes another attention then.
    r"|(?:ERROR )?(?:\d\d-\d\d )?(?:\d\d:\d\d:\d\d )?(?:\[\S{0,60}fa_utils\.py:\d+\] )?Cannot use FA version \d"
    # What torch's collect_env asks of the system, in an image without it.
    r"|\S*\bsh: (?:(?:line )?\d+: )?(?:lscpu|lsb_release|sysctl): (?:command )?not found"
)
_DOES_WITHOUT = re.compile(
    r"^Exception ignored in|^handle: <Handle _Proactor\w+\._call_connection_lost|\bfor benchmark choice\b"
    r"|\bwill not be enabled\b|\b(?:[Pp]roceed|[Cc]ontinu)ing without\b"
)
"""What a program says before the traceback of what it does without."""
_OF_FAILING = re.compile(
    r"\b(?:fail\w*|errors?|exceptions?|caught|catch\w*|unable|can ?not|can't|not|no|without|missing|skip\w*|ignor\w*"
    r"|unavailable|disabl\w*|problems?|invalid|broken|crash\w*|unexpected\w*|trouble|went wrong|traceback)\b|n't\b"
    r"|\u5931\u8d25|\u9519\u8bef|\u5f02\u5e38|\u65e0\u6cd5",
    re.IGNORECASE,
)
"""What a logger says whose record has a traceback; any other line only happens to stand before one."""
_CHAIN = ("During handling of the above exception", "The above exception was the direct cause")
_AFTERMATH = re.compile(
    r"Press any key|\u8bf7\u6309\u4efb\u610f\u952e|CUDA kernel errors might|For debugging consider"
    r"|Compile with `?TORCH_USE|operable program or batch file|Exception ignored in|sys:1: |\^C|wandb: |ERROR conda\."
)
"""What comes after the end of a program, or belongs to the message."""
_IN_PASSING = re.compile(
    r"fatal: not a git repository"
    r"|(?:\S*\bsh: )(?:(?:line )?\d+: )?(?:rocminfo|rocm-smi|amd-smi|nvidia-smi|nvcc|hipconfig|xpu-smi|npu-smi"
    r"|lspci|lsmod|clinfo|ldconfig|xdg-open|git)\b.*not found"
    r"|'(?:rocminfo|nvidia-smi|nvcc|hipinfo|wmic|git)(?:\.exe)?' is not recognized as an internal"
)
"""What a program finds out on its way, where it goes on after it."""
_PROBE = re.compile(
    r"LINK : fatal error LNK1181: .*\b(?:aio|cufile)\.lib|\S*\bld: cannot find -l(?:aio|cufile)\b"
    r"|(?:\S*\bld: )?(?:\S*/)?test\.[co]:\(\.text\S*\): undefined reference to "
    r"|(?:\S*\bld: )?\S*/libcufile\.so\S*: undefined reference to "
)
"""What compiler and linker say of the small programs with which DeepSpeed finds out what it may build later."""
_HEADER = "Traceback (most recent call last)"
_OF_SEARCHING = ("trace", "debug")
_OF_A_FRAME = ('File "', "[Previous line repeated")


@dataclass(frozen=True, slots=True)
class LogFailure:
    """One failure: the line to quote, and where it begins and ends."""

    number: int
    line: str
    begin: int
    end: int
    told: tuple[tuple[int, str], ...]
    """Every line that tells of it, with its number."""
    is_wrapper: bool = False
    """It only says that something inside failed."""


@dataclass(frozen=True, slots=True)
class _Told:
    number: int
    text: str
    weight: int
    """3: an exception that ended a traceback; 2: any other that says what failed; 1: a wrapper; 0: caught, and told of
    only to who looks for a fault."""
    begin: int


def failures_of(text: str) -> tuple[LogFailure, ...]:
    """Return the failures that a log ends in, first to last; those that success followed are left out."""
    if not _MAY_TELL.search(plain(text)):
        return ()
    told = [item for item in _read(text)[1] if item.weight]
    if not told:
        return ()
    course = course_of_log(text)
    left = [item for item in told if item.number not in course.cured or re.match(_OF_A_NODE, item.text)]
    left = [item for item in left if course.got_over(item.number) is not Severity.INFO]
    return tuple(_together(left)[-_MOST:])


@lru_cache(maxsize=2)
def course_of_log(text: str) -> Course:
    """Return what the log's program went on to do after its failures."""
    lines, told = _read(text)
    course = course_of(lines, [(item.begin, item.number) for item in told if item.weight])
    aside = (number for item in told if not item.weight for number in range(item.begin, item.number + 1))
    return replace(course, aside=frozenset(aside))


@lru_cache(maxsize=2)
def _read(text: str) -> tuple[Sequence[LogLine], Sequence[_Told]]:
    lines = lines_of_log(text)
    return lines, list(_told(lines))


def _told(lines: Sequence[LogLine]) -> Iterator[_Told]:
    at, caught = 0, False
    while at < len(lines):
        line = lines[at]
        if "Traceback (most recent call last)" in line.text and not _ends_a_header(line.text):
            end = _end_of_traceback(lines, at)
            caught = _is_caught(lines, at) or (caught and lines[at - 1].text.startswith(_CHAIN))
            if not caught and not _NO_FAILURE.match(lines[end].text):
                weight = 1 if _WRAPPER.match(lines[end].text) else 3
                yield _Told(lines[end].number, _with_cause(lines, end), weight, line.number)
            elif caught and lines[at - 1].level in _OF_SEARCHING:
                yield _Told(lines[end].number, "", 0, line.number)
            at = end + 1
            continue
        if (line.is_grave or _MAY_TELL.search(line.text)) and not _is_of_probe(lines, at):
            weight = 0 if _IN_PASSING.match(line.text) and _goes_on(lines, at, at) else _weight(line)
            if weight and not (_EXCEPTION.match(line.text) and is_quoted(lines, at)):
                yield _Told(line.number, _with_message(lines, at), weight, line.number)
        at += 1


def _with_cause(lines: Sequence[LogLine], at: int) -> str:
    """Return the line, with the next one where it says that the cause stands there."""
    text, below = lines[at].text, lines[at + 1] if at + 1 < len(lines) else None
    is_cause = below is not None and below.number == lines[at].number + 1
    return f"{text} {below.text}" if below and is_cause and text.endswith(_CAUSE_BELOW) else text


def _with_message(lines: Sequence[LogLine], at: int) -> str:
    """Return the line; of a class that stands alone, as Poetry and rich write it, and of CMake, with what is below."""
    line, below = lines[at], lines[at + 1] if at + 1 < len(lines) else None
    if line.text.endswith(_CAUSE_BELOW):
        return _with_cause(lines, at)
    if below is not None and line.text.startswith("CMake Error at ") and line.text.endswith(":"):
        return f"{line.text} {below.text}" if below.indent > line.indent else line.text
    if below is None or not re.fullmatch(r"[\w.]+", line.text) or below.number > line.number + 2:
        return line.text
    return f"{line.text}: {below.text}" if below.indent == line.indent > 0 else line.text


def _ends_a_header(text: str) -> bool:
    """Return whether this is IPython's header, where the exception's name stands first and its frames are no block."""
    return bool(re.match(r"\w+(?:Error|Exception)\s{3,}Traceback", text))


def _unquoted(line: LogLine, head: LogLine) -> LogLine:
    """Return a line without the mark that a mail program puts before what it quotes, where the traceback has it."""
    if not (head.text.startswith("> ") and line.text.startswith(">")):
        return line
    rest = line.text[1:].removeprefix(" ")
    return replace(line, indent=len(rest) - len(rest.lstrip()), text=rest.lstrip())


def _end_of_traceback(lines: Sequence[LogLine], at: int) -> int:
    """Return where the traceback's exception stands; where it was cut off, its last line."""
    head, last = lines[at], min(len(lines), at + _LONGEST_TRACEBACK) - 1
    boxed, group = head.text.startswith(("╭", "+--")), head.text.startswith("+ ")
    found = at
    for end in range(at + 1, last + 1):
        line = _unquoted(lines[end], head)
        if group and line.text[:1] in "|+":
            found = end if _EXCEPTION.match(line.text.lstrip("|+- ")) else found
        elif group:
            return found
        elif (boxed and line.text[:1] in "│╰|+╭") or _is_of_frames(line, lines[end - 1], head):
            continue
        else:
            return end - 1 if "Traceback (most recent call last)" in line.text else end
    return found if group else last


def _is_of_frames(line: LogLine, before: LogLine, head: LogLine) -> bool:
    """Return whether a line of a traceback comes before its exception, also where it was pasted without its blanks."""
    if line.indent > head.indent or line.text.startswith(_OF_A_FRAME):
        return True
    bare = before.indent <= head.indent and before.text.startswith('File "')
    return bare and not _EXCEPTION.match(line.text)


def _is_caught(lines: Sequence[LogLine], at: int) -> bool:
    """Return whether who wrote a traceback calls it no failure, on its line or on the one before."""
    before = lines[at - 1] if at and lines[at].number - lines[at - 1].number <= 1 else None
    if lines[at].level == "info" and at + 1 < len(lines) and lines[at + 1].level == "info":
        return False  # One that logs what another prints does so line by line; its own message has one beginning.
    if lines[at].is_mild:
        return True
    if before is None or _DOES_WITHOUT.search(before.text):
        return before is not None
    return (
        before.is_mild and _OF_FAILING.search(before.text) is not None and _goes_on(lines, at, _end_of_chain(lines, at))
    )


def _end_of_chain(lines: Sequence[LogLine], at: int) -> int:
    """Return where the last of the tracebacks ends that are chained to this one."""
    end = _end_of_traceback(lines, at)
    while end + 2 < len(lines) and lines[end + 1].text.startswith(_CHAIN) and lines[end + 2].text.startswith(_HEADER):
        end = _end_of_traceback(lines, end + 2)
    return end


def _goes_on(lines: Sequence[LogLine], at: int, end: int) -> bool:
    """Return whether the program that wrote the lines ``at`` to ``end`` prints more after them."""
    for line in lines[end + 1 :]:
        if is_typed(line.text):
            return False
        if not (_AFTERMATH.match(line.text) or _WRAPPER.match(line.text) or line.indent > lines[at].indent):
            return True
    return False


def _is_of_probe(lines: Sequence[LogLine], at: int) -> bool:
    """Return whether a line tells how a trial of DeepSpeed's ended: nothing that is built fails with it."""
    first = at - 1 if at and lines[at].text.startswith("collect2: error") else at
    if not _PROBE.match(lines[first].text):
        return False
    rest = (line.text for line in lines[first + 1 : first + _NEAR] if not line.text.startswith("collect2: error"))
    return not any(map(_WRAPPER.match, rest))


def is_exception(text: str) -> bool:
    """Return whether a line begins with the class of an exception, behind the mark of pytest or of a quotation."""
    return _EXCEPTION.match(_unmarked(text)) is not None


def _unmarked(text: str) -> str:
    return text.removeprefix("E   ").removeprefix("> ")


def _weight(line: LogLine) -> int:
    text = _unmarked(line.text)
    if line.is_mild or _NOTHING.match(text) or _NO_FAILURE.match(text):
        return 0
    if _WRAPPER.match(text):
        return 1
    if _EXCEPTION.match(text) or _TELLING.match(text):
        return 2
    return 1 if line.is_grave else 0


def _quote(text: str) -> str:
    """Return at most 300 characters; what a long line ends with is nearest to the cause."""
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:140]} ... {text[-155:]}"


def _together(told: Sequence[_Told]) -> list[LogFailure]:
    """Return the failures that stand apart; the last exception speaks for its chain, else the first that tells."""
    groups: list[list[_Told]] = []
    for item in told:
        if groups and item.begin - groups[-1][-1].number <= _NEAR:
            groups[-1].append(item)
        else:
            groups.append([item])
    found = []
    for group in groups:
        best = max(item.weight for item in group)
        chosen = [item for item in group if item.weight == best]
        quoted = chosen[-1] if best == 3 else chosen[0]
        rows = tuple((item.number, _quote(item.text)) for item in group)
        found.append(LogFailure(quoted.number, _quote(quoted.text), group[0].begin, group[-1].number, rows, best == 1))
    return found
