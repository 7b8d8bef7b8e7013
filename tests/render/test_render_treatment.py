"""The words for what a treatment has to tell."""

import pytest

from envdoctor.model.event import EventKind, FixEntry, TreatmentEvent
from envdoctor.render.treatment_text import event_text, fix_rows, fixes_text


@pytest.mark.parametrize("kind", EventKind)
def test_every_event_has_words_without_holes(kind: EventKind) -> None:
    event = TreatmentEvent(
        kind, "{place}", names=("a", "b"), detail="{why}", because=("x",), commands=("undo",), steps=2, restored=1
    )
    text = event_text(event)
    assert text
    assert "{" not in text.replace("{place}", "").replace("{why}", "")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            TreatmentEvent(EventKind.TAKEN_BACK, "f1", restored=1, removed=2),
            "took back f1: 1 file restored, 2 files removed",
        ),
        (
            TreatmentEvent(EventKind.TAKEN_BACK, "f1", environment_removed=True),
            "took back f1: the environment that it had made is gone",
        ),
        (TreatmentEvent(EventKind.TAKEN_BACK, "f1"), "took back f1: 0 files restored"),
        (
            TreatmentEvent(EventKind.KEPT, "/k", names=("z", *map(str, range(7)))),
            "note: what was changed after the fix is kept in `/k`: `0`, `1`, `2`, `3`, `4`, `5` and 2 more",
        ),
        (
            TreatmentEvent(EventKind.KEPT, "/a.after-fix"),
            "note: what was changed after the fix is kept in `/a.after-fix`",
        ),
        (TreatmentEvent(EventKind.REFUSED, detail="no uv"), "error: no uv; nothing was changed"),
        (
            TreatmentEvent(EventKind.HALF_DONE_FULL, "/a", detail="No space left", commands=("envdoctor undo",)),
            "error: No space left (`/a`); `envdoctor undo` puts the environment back as it was once there is room",
        ),
        (
            TreatmentEvent(EventKind.FAILED, detail="pip failed", output=("one", "two")),
            "error: pip failed\n  one\n  two",
        ),
        (TreatmentEvent(EventKind.PLACED, names=("a", "b"), steps=1), "placed `a`, `b` by 1 more step"),
        (
            TreatmentEvent(EventKind.IN_FORCE, names=("e", "f"), commands=("u",)),
            "the fix of `e` and `f` is in force all the same; `u` takes it back",
        ),
    ],
)
def test_events_in_words(event: TreatmentEvent, text: str) -> None:
    assert event_text(event) == text


def test_fixes_as_text_and_as_rows() -> None:
    entry = FixEntry("f1", "open", "2026-01-01", "xtts", ("a step",))
    assert fixes_text({"e": [entry]}) == "f1  cut short, 2026-01-01, profile xtts\n    a step\n"
    assert fixes_text({"e": [entry], "g": []}).startswith("e\nf1  ")
    assert fixes_text({"e": []}) == "no fixes\n"
    assert fix_rows({"e": [entry]})[0]["steps"] == ["a step"]
