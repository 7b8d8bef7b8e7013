"""Many processes of a launcher: a report of each, and which of them is not like the others."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from envdoctor.cli.main import main
from envdoctor.verbs.ranks import filled_in, read_rank

TORCHRUN = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "SLURM_PROCID": "0"}
LISTING = "numpy==2.0.0\n"


def kernel(device: str, rate: float, name: str = "gemm", steady_ms: float = 3.0) -> dict[str, Any]:
    timed = {"rate": rate, "rate_unit": "TFLOP/s", "steady_ms": steady_ms}
    return {"kernel": name, "device": device, "status": "passed", **timed}


REPORT: dict[str, Any] = {
    "schema": "envdoctor.report/1",
    "command": "smoke",
    "verdict": "healthy",
    "complete": True,
    "profile": None,
    "target": None,
    "resolution": None,
    "conflicts": [],
    "findings": [],
    "facts": [
        {"name": "gpu[0].driver", "state": "known", "value": "580.1"},
        {"name": "disk.free", "state": "known", "value": "6.1"},
    ],
    "kernels": [kernel("cuda:0", 700.0)],
}


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Four ranks: one of them has another driver, another kernel of the system, and a slow card."""
    for rank in range(4):
        report = copy.deepcopy(REPORT)
        report["rank"] = {"host": "n1", "rank": rank, "local_rank": rank, "size": 4, "launcher": "srun"}
        # Of the other, the launch was timed: no rate to compare.
        report["kernels"] = [kernel(f"cuda:{rank}", 700.0 + rank), kernel(f"cuda:{rank}", 1.0 + rank, "stft", 0.1)]
        if rank == 2:
            report["facts"][0]["value"], report["facts"][1]["value"] = "570.0", "5.15"
            report["kernels"] = [kernel("cuda:2", 350.0), *report["kernels"][1:]]
            report["findings"] = [{"rule": "HOST001", "name": "x", "subject": "driver", "severity": "error"}]
            report["verdict"] = "broken"
        (tmp_path / f"n1-{rank}.json").write_text(json.dumps(report), encoding="utf-8")
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("variables", "rank"),
    [
        (TORCHRUN, (5, 1, 8, "torchrun")),
        ({"SLURM_PROCID": "3", "SLURM_LOCALID": "3", "SLURM_NTASKS": "4"}, (3, 3, 4, "srun")),
        (
            {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"},
            (0, 0, 2, "mpirun"),
        ),
        ({"PMI_RANK": "1", "MPI_LOCALRANKID": "1", "PMI_SIZE": "2"}, (1, 1, 2, "mpiexec")),
        ({"RANK": "captain", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}, None),
        ({"RANK": "1"}, None),
        ({}, None),
    ],
)
def test_a_launcher_is_known_by_its_variables(
    variables: dict[str, str], rank: tuple[int, int, int, str] | None
) -> None:
    found = read_rank(variables)
    assert (found and (found.rank, found.local_rank, found.size, found.launcher)) == rank


def test_a_report_of_each_rank_lands_in_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("platform.node", lambda: "../n/1")
    listing = tmp_path / "freeze.txt"
    listing.write_text(LISTING, encoding="utf-8")
    out = str(tmp_path / "reports" / "{host}-{rank}.json")
    main(["check", "--installed", str(listing), "--format", "json", "--output", out])
    (written,) = (tmp_path / "reports").iterdir()
    assert written.name == "_n_1-5.json"
    document = json.loads(written.read_text(encoding="utf-8"))
    assert document["rank"] == {"host": "../n/1", "rank": 5, "local_rank": 1, "size": 8, "launcher": "torchrun"}
    assert main(["check", "--installed", str(listing), "--output", str(tmp_path / "{node}.json")]) == 2
    assert "`{node}` is neither `{host}` nor `{rank}`" in capsys.readouterr().err


def test_without_a_launcher_there_is_no_rank_in_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    listing = tmp_path / "freeze.txt"
    listing.write_text(LISTING, encoding="utf-8")
    main(["check", "--installed", str(listing), "--format", "json", "--output", str(tmp_path / "one.json")])
    assert "rank" not in json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert filled_in(tmp_path / "{rank}.json", None) == tmp_path / "0.json"


def test_the_report_that_is_not_like_the_others_comes_first(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(fleet)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "4 reports: 3 alike, 1 not like the others",
        "n1-2.json (rank 2 on n1): broken",
        "  verdict: broken; 3 have healthy",
        "  fact gpu[0].driver: 570.0; 3 have 580.1",
        "  finding HOST001 x: driver: error; 3 have nothing",
        "  rate gemm on cuda: 350 TFLOP/s; the median of 4 is 700 TFLOP/s",
        "1 further difference that hardly matters; --verbose shows it",
    ]
    main(["compare", str(fleet), "--verbose"])
    assert "  fact disk.free: 5.15; 3 have 6.1" in capsys.readouterr().out


def test_the_comparison_of_many_in_json(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(fleet), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "envdoctor.outliers/1"
    assert [(each["report"], each["rank"], len(each["deviations"])) for each in document["reports"]] == [
        ("n1-2.json", 2, 5),
        ("n1-0.json", 0, 0),
        ("n1-1.json", 1, 0),
        ("n1-3.json", 3, 0),
    ]


def test_reports_that_are_alike(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fleet / "n1-2.json").unlink()
    main(["compare", str(fleet)])
    assert capsys.readouterr().out == "3 reports: all alike in what matters\n"


def test_one_report_is_compared_with_nothing(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(fleet / "n1-0.json")]) == 2
    assert "give another, or a folder of reports" in capsys.readouterr().err
    for rank in (1, 2, 3):
        (fleet / f"n1-{rank}.json").unlink()
    assert main(["compare", str(fleet)]) == 2
    assert "has one report" in capsys.readouterr().err
