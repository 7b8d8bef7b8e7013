"""The words by which lines of a log tell of a failure, or of none; each matches a line from its beginning on."""

from __future__ import annotations

import re

from envdoctor.diagnose.logs.log_lines import EXCEPTIONS

__all__ = [
    "AFTERMATH",
    "CAUSE_BELOW",
    "CHAIN",
    "DOES_WITHOUT",
    "EXCEPTION",
    "IN_PASSING",
    "MAY_TELL",
    "NOTHING",
    "NO_FAILURE",
    "OF_A_NODE",
    "OF_FAILING",
    "PROBE",
    "TELLING",
    "WRAPPER",
]

MAY_TELL = re.compile(
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
EXCEPTION = re.compile(
    rf"(?:[A-Za-z_]\w*\.)*(?:(?:_?[A-Z]\w*)?{EXCEPTIONS}|(?:exc|errors|exceptions)\.[A-Z]\w*)(?::(?:\s|$)|$)"
)
NO_FAILURE = re.compile(r"(?:\w+\.)*(?:KeyboardInterrupt|SystemExit|GeneratorExit|StopIteration|CancelledError)\b")
_CRASH = (
    r"(?:[\w./-]+: )*(?:line \d+: *)?(?:\d+ +)?"
    r"(?:[Ss]egmentation fault|[Bb]us error|[Ii]llegal (?:hardware )?instruction|[Ff]loating point exception"
    r"|[Aa]borted|[Aa]bort trap|[Kk]illed|[Tt]race/breakpoint trap|[Aa]bort(?= {2}|$)"
    r"|Speicherzugriffsfehler|Abgebrochen|Erreur de segmentation|Violaci\u00f3n de segmento|\u6bb5\u9519\u8bef)"
    r"(?:: \d+)?(?: +\((?:core dumped|SIG\w+|Speicherabzug geschrieben)\))?(?:$| {2,}| +(?:\S*python|\./|sudo)\S*)"
)
OF_A_NODE = r"(?:- +)?\d[\d.]* seconds? \(IMPORT FAILED\): |Cannot import .{1,300} module for custom nodes: "
"""A part of ComfyUI that was left out: the program goes on without it, and nothing gets over that."""
TELLING = re.compile(
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
            OF_A_NODE,
            r"(?:ERROR|Error|error|CRITICAL)(?: ?: ?|\[|:\w[\w.]*:)\s*(?![-+\d.e%]+(?:\s|$|,))\S",
        )
    )
)
WRAPPER = re.compile(
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
CAUSE_BELOW = "(look up to see its traceback):"
"""How transformers and diffusers end the line before the cause."""
NOTHING = re.compile(
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
DOES_WITHOUT = re.compile(
    r"^Exception ignored in|^handle: <Handle _Proactor\w+\._call_connection_lost|\bfor benchmark choice\b"
    r"|\bwill not be enabled\b|\b(?:[Pp]roceed|[Cc]ontinu)ing without\b"
)
"""What a program says before the traceback of what it does without."""
OF_FAILING = re.compile(
    r"\b(?:fail\w*|errors?|exceptions?|caught|catch\w*|unable|can ?not|can't|not|no|without|missing|skip\w*|ignor\w*"
    r"|unavailable|disabl\w*|problems?|invalid|broken|crash\w*|unexpected\w*|trouble|went wrong|traceback)\b|n't\b"
    r"|\u5931\u8d25|\u9519\u8bef|\u5f02\u5e38|\u65e0\u6cd5",
    re.IGNORECASE,
)
"""What a logger says whose record has a traceback; any other line only happens to stand before one."""
CHAIN = ("During handling of the above exception", "The above exception was the direct cause")
AFTERMATH = re.compile(
    r"Press any key|\u8bf7\u6309\u4efb\u610f\u952e|CUDA kernel errors might|For debugging consider"
    r"|Compile with `?TORCH_USE|operable program or batch file|Exception ignored in|sys:1: |\^C|wandb: |ERROR conda\."
)
"""What comes after the end of a program, or belongs to the message."""
IN_PASSING = re.compile(
    r"fatal: not a git repository"
    r"|(?:\S*\bsh: )(?:(?:line )?\d+: )?(?:rocminfo|rocm-smi|amd-smi|nvidia-smi|nvcc|hipconfig|xpu-smi|npu-smi"
    r"|lspci|lsmod|clinfo|ldconfig|xdg-open|git)\b.*not found"
    r"|'(?:rocminfo|nvidia-smi|nvcc|hipinfo|wmic|git)(?:\.exe)?' is not recognized as an internal"
)
"""What a program finds out on its way, where it goes on after it."""
PROBE = re.compile(
    r"LINK : fatal error LNK1181: .*\b(?:aio|cufile)\.lib|\S*\bld: cannot find -l(?:aio|cufile)\b"
    r"|(?:\S*\bld: )?(?:\S*/)?test\.[co]:\(\.text\S*\): undefined reference to "
    r"|(?:\S*\bld: )?\S*/libcufile\.so\S*: undefined reference to "
)
"""What compiler and linker say of the small programs with which DeepSpeed finds out what it may build later."""
