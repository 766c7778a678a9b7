"""Measured programs get the user's environment, and nothing that the lab or Prefect added."""

import os
from pathlib import Path

import benchyard
from benchyard.process.child_environment import child_environment, told

ROOT = str(Path(benchyard.__file__).resolve().parents[1])


def test_what_is_the_labs_and_prefects_stays_with_them() -> None:
    lab = {
        "PATH": "/bin",
        "TOKEN": "t",
        "BENCHYARD_OWNER": "1:2:3",
        "BENCHYARD_DATABASE_URL": "postgresql://user:password@host/x",
        "PREFECT_API_AUTH_STRING": "a:b",
        "prefect_api_key": "k",
        "PREFECT__FLOW_RUN_ID": "1",
        "PYTHONPATH": os.pathsep.join([ROOT, "/mine"]),
    }
    assert child_environment(lab) == {
        "PATH": "/bin",
        "TOKEN": "t",
        "PYTHONPATH": "/mine",
        "DO_NOT_TRACK": "1",
    }
    assert "PYTHONPATH" not in child_environment({"PYTHONPATH": ROOT})


def test_a_record_tells_names_and_only_harmless_values() -> None:
    assert told({"TOKEN": "t", "PATH": "/bin", "OMP_NUM_THREADS": "4", "LC_ALL": "C"}) == {
        "DO_NOT_TRACK": "1",
        "LC_ALL": "C",
        "OMP_NUM_THREADS": "4",
        "PATH": "/bin",
        "TOKEN": None,
    }
