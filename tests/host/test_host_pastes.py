"""What people paste of a machine is read as facts, each with the program that said it as its source."""

from __future__ import annotations

import pytest

from envdoctor.adapters.probe.host_facts_file import FactsFileError, read_facts

SMI = """\
Mon Jan  5 10:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 551.61                 Driver Version: 551.61         CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                     TCC/WDDM  | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA GeForce RTX 3060      WDDM  |   00000000:01:00.0  On |                  N/A |
| 30%   45C    P8             15W /  170W |    1024MiB /  12288MiB |      2%      Default |
|   1  Tesla P40                     TCC  |   00000000:02:00.0 Off |                  Off |
| N/A   20C    P8              9W /  250W |       0MiB /  24576MiB |      0%      Default |
+-----------------------------------------------------------------------------------------+
|    0   N/A  N/A      4321    C+G   C:\\Windows\\explorer.exe                           N/A |
"""
ROCM = """\
ROCk module is loaded
=====================
HSA System Attributes
=====================
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD Ryzen 9 7950X 16-Core Processor
  Marketing Name:          AMD Ryzen 9 7950X 16-Core Processor
  Device Type:             CPU
*******
Agent 2
*******
  Name:                    gfx1201
  Marketing Name:          AMD Radeon RX 9070 XT
  Device Type:             GPU
"""
HIP = """\
C:\\> hipInfo.exe
--------------------------------------------------------------------------------
device#                           0
Name:                             AMD Radeon RX 6800
totalGlobalMem:                   15.98 GB
gcnArchName:                      gfx1030:sramecc-
"""
DXDIAG = """\
System Information
      Operating System: Windows 11 Home 64-bit (10.0, Build 22631)
             Processor: Intel(R) Core(TM) i7
       DirectX Version: DirectX 12
---------------
Display Devices
---------------
           Card name: NVIDIA GeForce RTX 4070
        Manufacturer: NVIDIA
      Driver Version: 32.0.15.8097
           Card name: NVIDIA GeForce RTX 4070
      Driver Version: 32.0.15.8097
           Card name: Intel(R) UHD Graphics 770
      Driver Version: 31.0.101.4502
"""
CSV = "name, driver_version, memory.total [MiB], compute_cap\nNVIDIA L4, 550.54.15, 23034 MiB, 8.9\n"
LSPCI = "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] [Radeon RX 6800/6800 XT] (rev c3)"
MAC = "Graphics/Displays:\n    Apple M3 Pro:\n      Chipset Model: Apple M3 Pro\n      Metal Support: Metal 3\n"
HUGGING_FACE = """\
- `transformers` version: 4.44.0
- Platform: Linux-5.15.167.4-microsoft-standard-WSL2-x86_64-with-glibc2.35
- Python version: 3.10.12
- PyTorch version (GPU?): 2.4.0+cu121 (True)
- GPU type: NVIDIA GeForce RTX 5080
"""


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            SMI,
            {
                "os": "windows",
                "driver.version": "551.61",
                "driver.cuda": "12.4",
                "gpu.count": 2,
                "gpu[0].name": "NVIDIA GeForce RTX 3060",
                "gpu[0].architecture": "sm_86",
                "gpu[0].memory_bytes": 12288 * 1024 * 1024,
                "gpu[1].name": "Tesla P40",
                "gpu[1].architecture": "sm_61",
            },
        ),
        (
            ROCM,
            {
                "os": "linux",
                "host.wsl": False,
                "gpu.count": 1,
                "gpu[0].architecture": "gfx1201",
                "gpu[0].vendor": "amd",
            },
        ),
        (HIP, {"os": "windows", "gpu[0].architecture": "gfx1030", "gpu[0].name": "AMD Radeon RX 6800"}),
        (
            DXDIAG,
            {
                "os": "windows",
                "arch": "x86_64",
                "gpu.count": 2,
                "driver.version": "580.97",
                "gpu[0].architecture": "sm_89",
                "gpu[1].vendor": "intel",
            },
        ),
        (CSV, {"gpu[0].name": "NVIDIA L4", "gpu[0].architecture": "sm_89", "driver.version": "550.54.15"}),
        ("GPU 0: NVIDIA H100 PCIe (UUID: GPU-1234)\n", {"gpu[0].architecture": "sm_90"}),
        (LSPCI, {"os": "linux", "gpu[0].vendor": "amd", "gpu[0].architecture": "gfx1030"}),
        (
            "$ rocminfo | grep Name\n  Name:   gfx1101\n  Marketing Name:   AMD Radeon RX 7800 XT\n",
            {"gpu[0].architecture": "gfx1101", "gpu[0].name": "AMD Radeon RX 7800 XT"},
        ),
        (
            "Graphics:\n  Device-1: AMD Navi 21 [Radeon RX 6800] driver: amdgpu v: kernel\n",
            {"os": "linux", "gpu[0].architecture": "gfx1030"},
        ),
        (
            (
                "PS C:\\> Get-CimInstance Win32_VideoController | Select Name, DriverVersion\n\n"
                "Name                    DriverVersion\n----                    -------------\n"
                "AMD Radeon RX 6800 XT   31.0.24027.1012\n"
            ),
            {"os": "windows", "gpu.count": 1, "gpu[0].name": "AMD Radeon RX 6800 XT"},
        ),
        (
            ">wmic path win32_VideoController get name\nDriverVersion  Name\n32.0.101.6647  Intel(R) Arc(TM) B580\n",
            {"os": "windows", "gpu.count": 1, "gpu[0].name": "Intel(R) Arc(TM) B580"},
        ),
        (
            "AdapterRAM  DriverVersion    Name\n4293918720  32.0.21013.1000  AMD Radeon RX 9070 XT\n",
            {"os": "windows", "gpu.count": 1, "gpu[0].name": "AMD Radeon RX 9070 XT"},
        ),
        (
            "\n\nDriverVersion=32.0.15.7652\nName=NVIDIA GeForce RTX 5080\n\n",
            {"os": "windows", "gpu.count": 1, "gpu[0].name": "NVIDIA GeForce RTX 5080"},
        ),
        (MAC, {"os": "macos", "arch": "arm64", "gpu[0].vendor": "apple"}),
        (
            HUGGING_FACE,
            {
                "os": "linux",
                "host.wsl": True,
                "python.version": "3.10.12",
                "torch.version": "2.4.0+cu121",
                "torch.is_available": True,
                "gpu[0].architecture": "sm_120",
            },
        ),
        (f"I ran this:\n```\n{SMI}```\nand\n{LSPCI}\n", {"gpu.count": 2, "gpu[0].vendor": "nvidia"}),
        (
            "Linux box 6.8.0-45-generic #45 SMP x86_64 GNU/Linux\nCuda compilation tools, release 12.4, V12.4.131\n",
            {"os": "linux", "arch": "x86_64", "host.kernel": "6.8.0-45-generic", "tool.nvcc.version": "12.4.131"},
        ),
        (
            "$ cat /etc/nv_tegra_release\n# R39 (release), REVISION: 2.0, GCID: 1, BOARD: generic, EABI: aarch64\n",
            {"os": "linux", "arch": "aarch64", "host.l4t": "39.2.0", "host.jetpack": "7.2"},
        ),
    ],
)
def test_a_paste_tells_its_facts(text: str, values: dict[str, object]) -> None:
    facts = read_facts(text, "paste.txt")
    assert {name: facts.value(name) for name in values} == values
    assert all(fact.source and fact.source != "paste.txt" for fact in facts)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("torch==2.4.1\nnumpy==1.26.4\n", "`--installed`"),
        ('Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x\n', "`--log`"),
        ("My card is a good one.\nIt is new.\n", "nvidia-smi"),
    ],
)
def test_a_paste_that_tells_nothing_of_a_machine_is_refused_with_what_to_give(text: str, instead: str) -> None:
    with pytest.raises(FactsFileError, match=instead):
        read_facts(text, "paste.txt")
