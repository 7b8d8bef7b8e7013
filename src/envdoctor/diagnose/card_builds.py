"""Which builds of torch have kernels for a card, by the shipped table."""

from __future__ import annotations

from envdoctor.diagnose.wheel_facts import shipped_wheel_facts
from envdoctor.model.binary import GpuCode

__all__ = ["advice_for_torch", "builds_for", "code_of"]

# The first torch with builds of a label; PyTorch, "Previous versions".
_FIRST_TORCH = {"cu118": "2.0", "cu121": "2.1", "cu124": "2.4", "cu126": "2.6", "cu128": "2.7", "cu129": "2.8",
                "cu130": "2.9", "cu132": "2.13", "rocm5.5": "2.1", "rocm6.0": "2.3", "rocm6.2": "2.5", "rocm6.3": "2.7",
                "rocm6.4": "2.8", "rocm7.0": "2.10"}  # fmt: skip


def code_of(architectures: tuple[str, ...], ptx: str | None = None) -> GpuCode:
    """Return the code that a list such as ``torch.cuda.get_arch_list()`` speaks of."""
    listed_ptx = tuple(item for item in architectures if item.startswith("compute_"))
    more = (f"compute_{ptx.partition('_')[2]}",) if ptx else ()
    return GpuCode(
        sass=tuple(item for item in architectures if item.startswith("sm_")),
        ptx=(*listed_ptx, *more),
        amd=tuple(item.partition(":")[0] for item in architectures if item.startswith("gfx")),
    )


def builds_for(card: str, arch: str | None = None) -> tuple[str, ...]:
    """Return the labels of torch's builds that run on ``card`` (on machines of ``arch``), oldest CUDA first."""
    fits = [
        item.label
        for item in shipped_wheel_facts().kernels
        if item.package == "torch"
        and (arch is None or not item.arch or arch in item.arch)
        and code_of(item.architectures, item.ptx).runs_on(card)
    ]
    return tuple(sorted(dict.fromkeys(fits)))


def advice_for_torch(card: str, arch: str | None = None) -> str:
    """Return what to install: ``take torch>=2.7 from the cu128 index or a newer one, and ...``."""
    labels = builds_for(card, arch)
    together = "and the torchaudio and torchvision of the same release and label"
    if not labels and card.startswith("gfx"):
        return (
            f"no build of PyTorch's own indexes is for {card}: run it on the CPU; on bare-metal Linux, a card that "
            "differs from a listed one in its number alone passes for it with HSA_OVERRIDE_GFX_VERSION (10.3.0 for "
            "gfx103x)"
        )
    if not labels:
        return f"take a build of torch with {card}, {together}"
    first = _FIRST_TORCH.get(labels[0])
    which = f"torch>={first}" if first else "torch"
    return f"take {which} from the {labels[0]} index or a newer one, {together}"
