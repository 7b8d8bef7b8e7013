"""The script that reads the shipped tables again, and the tables against the real index."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from diagnose_fixtures import MemoryArchives, MemoryIndex
from packaging.specifiers import Specifier
from packaging.version import Version

from envdoctor.adapters.index import IndexSettings, open_index
from envdoctor.model.candidate import DistributionFile
from envdoctor.shipped import advisories_folder, architecture_of_card
from envdoctor.toml_tables import read_toml

SCRIPTS = Path(__file__).parents[2] / "scripts"
SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("tables")


@pytest.mark.online
def test_tables_and_index_agree(tables: ModuleType) -> None:
    """This fails when the world has moved."""
    with open_index(IndexSettings()) as index:
        assert list(tables.differences(index)) == []


def test_each_table_is_read_again_or_has_a_reason(tables: ModuleType) -> None:
    documents = [read_toml(path.read_text(encoding="utf-8")) for path in advisories_folder().rglob("*.toml")]
    kinds = {key for document in documents for key in document}
    assert kinds == tables.READ.keys() | tables.UNREADABLE.keys()
    assert all(tables.UNREADABLE.values())


@pytest.mark.parametrize(
    ("clause", "answered"),
    [
        ("<1.1", True),  # mended in 1.2 at the latest
        ("<1.3", True),  # the whole of 1.2
        ("<2", True),
        ("<1.5", False),  # nothing was mended there
        ("<4", False),
        (">=2", True),  # 2.0rc1 is there
        (">=3", False),
        ("<=1.2", True),
        ("<=1.1", False),
        ("==1.*", True),
        ("==3.*", False),
        ("!=1.3", False),
    ],
)
def test_a_range_ends_where_there_is_a_release(tables: ModuleType, clause: str, *, answered: bool) -> None:
    versions = importlib.import_module("tables_versions")
    numbers = ("1.0", "1.2") if clause.startswith("<1.") else ("1.0", "1.2", "2.0rc1")
    assert versions._answered(Specifier(clause), [Version(item) for item in numbers]) is answered


class _Index(MemoryIndex, MemoryArchives):
    """Pages and the members of their files."""

    def __init__(self, files: dict[str, list[str]], members: dict[str, dict[str, str]]) -> None:
        MemoryIndex.__init__(self, files)
        MemoryArchives.__init__(self, members)

    def names(self, file: DistributionFile) -> tuple[str, ...]:
        return tuple(name for name in super().names(file) if file.filename.startswith(name.partition("/")[0]))


@pytest.mark.parametrize(
    ("last", "newest", "said"),
    [
        ("3.12", "3.16", []),
        (
            "3.13",
            "3.16",
            [
                (
                    "refuses: numba-1.1.tar.gz refuses Python 3.13, 3.14, 3.15, "
                    "and the table says Python 3.12, 3.13, 3.14, 3.15"
                )
            ],
        ),
        ("3.12", "3.15", ["refuses: numba-2.0.tar.gz refuses Python 3.15, and no row speaks of it"]),
    ],
)
def test_a_row_of_refusals_says_what_the_source_says(
    tables: ModuleType, monkeypatch: pytest.MonkeyPatch, last: str, newest: str, said: list[str]
) -> None:
    names = importlib.import_module("tables_names")
    row = {"package": "numba", "version": "<2", "python": ">=3.12"}
    monkeypatch.setattr(names, "data_file", lambda name: {"refuses": [row]} if name == "build-needs" else {})
    script = "max_python_version = '{}'\n\n_guard_py_ver()\n"
    members = {"numba-1.1/setup.py": script.format(last), "numba-2.0/setup.py": script.format(newest)}
    files = {"numba": ["numba-1.1.tar.gz", "numba-2.0.tar.gz"]}
    assert list(names._refusals(_Index(files, {"numba": members}))) == said


def _literal_names(table: str) -> Iterator[tuple[str, str]]:
    """Yield the names of cards of a list that holds patterns, as far as they are plain names."""
    for line in (SHARED / table).read_text(encoding="utf-8").splitlines()[2:]:
        pattern, architecture = line.split("\t")[:2]
        for name in re.sub(r"\([^()]*\)", "(", pattern).split("|"):
            if re.fullmatch(r"[\w -]{4,}", name):
                yield name.strip(), architecture.split()[0]


@pytest.mark.parametrize(("table", "maker"), [("nvidia-names.tsv", "NVIDIA"), ("amd-names.tsv", "AMD Radeon")])
def test_cards_have_the_architecture_of_their_makers_list(table: str, maker: str) -> None:
    if not (SHARED / table).is_file():
        pytest.skip("the makers' lists are not beside this checkout")
    cards = list(_literal_names(table))
    assert len(cards) > 10
    wanted = {name: number if number[0] == "g" else f"sm_{number.replace('.', '')}" for name, number in cards}
    assert {name: architecture_of_card(f"{maker} {name}") for name in wanted} == wanted
