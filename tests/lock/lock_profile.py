"""The beginning of a profile for one target."""

__all__ = ["profile_text"]


def profile_text(
    more: str = "",
    *,
    name: str = "stack",
    os: str = "linux",
    python: str = ">=3.11,<3.12",
    backend: str = "cpu",
) -> str:
    """Return a profile of x86_64 with further tables."""
    return (
        f'schema = 1\n[profile]\nname = "{name}"\nsummary = "s"\n[target]\nos = "{os}"\narch = "x86_64"\n'
        f'python = "{python}"\nbackend = "{backend}"\n{more}'
    )
