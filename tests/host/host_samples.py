"""Machines that are not at hand: their files and what their tools print, written from the documented formats."""

from __future__ import annotations

from pathlib import Path

OPEN_MODULE = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22)  Tue Sep 23\n"
    "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n"
)
CLOSED_MODULE = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n"
JETSON_MODULE = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.4.0  Release Build  (buildbrain@mobile)\n"
)

GPU_INFORMATION = (
    "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 0\nGPU UUID: \t GPU-0f5d2b1e-0000-0000-0000-000000000000\n"
    "Video BIOS: \t 96.00.89.00.01\nBus Type: \t PCIe\nBus Location: \t 0000:19:00.0\nGPU Excluded:\t No\n"
)

SMI = (
    "0, NVIDIA H100 80GB HBM3, 580.95.05, 9.0, 81559, 81000, Disabled\n"
    "1, NVIDIA A30, 580.95.05, 8.0, 24576, 24000, Enabled\n"
)
SMI_JETSON = "0, NVIDIA Thor, 580.00, 11.0, [N/A], [N/A], [N/A]\n"
SMI_FAILED = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA\n"
    "driver is installed and running.\n"
)

NVML_SOURCE = """
#include <string.h>
typedef void *device;
typedef struct { unsigned long long total, free, used; } memory;
int nvmlInit_v2(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { strncpy(text, "580.95.05", size); return 0; }
int nvmlSystemGetCudaDriverVersion(int *version) { *version = 13000; return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *handle) { *handle = (device)(index + 0x7fff00000001ul); return 0; }
static int known(device handle) { return handle == (device)0x7fff00000001ul ? 0 : 2; }
int nvmlDeviceGetName(device handle, char *text, unsigned size) { strncpy(text, "NVIDIA H100", size); return known(handle); }
int nvmlDeviceGetCudaComputeCapability(device handle, int *major, int *minor) { *major = 9; *minor = 0; return known(handle); }
int nvmlDeviceGetMemoryInfo(device handle, memory *m) { m->total = 85899345920ull; m->free = 1024; return known(handle); }
int nvmlDeviceGetMigMode(device handle, unsigned *now, unsigned *next) { *now = 1; *next = 0; return known(handle); }
const char *nvmlErrorString(int status) { return "Unknown Error"; }
"""  # noqa: E501

ROCMINFO = """ROCk module is loaded
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD Ryzen 9 5950X 16-Core Processor
  Uuid:                    CPU-XX
  Marketing Name:          AMD Ryzen 9 5950X 16-Core Processor
  Device Type:             CPU
*******
Agent 2
*******
  Name:                    gfx1100
  Uuid:                    GPU-XX
  Marketing Name:          AMD Radeon RX 7900 XTX
  Vendor Name:             AMD
  Device Type:             GPU
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx1100
"""

WSL_VERSION = "Linux version 6.6.87.2-microsoft-standard-WSL2 (root@439a258ad544) (gcc (GCC) 11.2.0) #1 SMP\n"
LINUX_VERSION = "Linux version 6.8.0-45-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13 13.2.0) #45-Ubuntu SMP\n"

TOOL_TEXTS = {
    "nvcc": (
        "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.6, V12.6.85\n",
        "12.6.85",
    ),
    "gcc": ("13.3.0\n", "13.3.0"),
    "g++": ("12\n", "12"),
    "clang": ("Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64-pc-linux-gnu\n", "18.1.3"),
    "cl": ("Microsoft (R) C/C++ Optimizing Compiler Version 19.44.35211 for x64\nCopyright (C)\n", "19.44.35211"),
    "cmake": ("cmake version 4.0.1\n\nCMake suite maintained and supported by Kitware\n", "4.0.1"),
    "ninja": ("1.11.1.git.kitware.jobserver-1\n", "1.11.1"),
    "git": ("git version 2.47.1.windows.2\n", "2.47.1"),
    "git-lfs": ("git-lfs/3.4.1 (GitHub; linux amd64; go 1.22.2)\n", "3.4.1"),
    "ffmpeg": ("ffmpeg version n7.1 Copyright (c) 2000-2024 the FFmpeg developers\nbuilt with gcc 14\n", "7.1"),
    "espeak-ng": ("eSpeak NG text-to-speech: 1.51  Data at: /usr/lib/x86_64-linux-gnu/espeak-ng-data\n", "1.51"),
    "rustc": ("rustc 1.83.0 (90b35a623 2024-11-26)\n", "1.83.0"),
}


def write(root: Path, files: dict[str, str]) -> None:
    """Write the files of a machine under a folder."""
    for path, text in files.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def kfd(version: int, name: str, memory: int = 0) -> dict[str, str]:
    """Return the files of one node of the kernel's topology, without its folder."""
    files = {
        "properties": f"cpu_cores_count 0\nsimd_count 96\ngfx_target_version {version}\nvendor_id 4098\n",
        "name": f"{name}\n",
    }
    if memory:
        files["mem_banks/0/properties"] = f"heap_type 1\nsize_in_bytes {memory}\nflags 0\n"
    return files
