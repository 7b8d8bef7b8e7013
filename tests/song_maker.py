"""The project of `examples/`, which tests of every verb take, and the index that is recorded for it."""

from pathlib import Path

__all__ = ["EXAMPLE", "ON_ITS_INDEX", "RECORDED"]

EXAMPLE = Path(__file__).parents[1] / "examples" / "song-maker"
RECORDED = str(EXAMPLE / "recorded-index")
ON_ITS_INDEX = ("--profile", "diffrhythm2-directml", "--recorded-index", RECORDED)
