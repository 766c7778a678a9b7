"""Which folder a flow run works in."""

import os
from pathlib import Path

import pytest
import yaml

from benchyard.lab.checkout import FLOWS, SOURCE, enter_checkout
from tasks.names import ROOT


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ROOT, raising=False)


def test_a_worker_s_own_checkout_is_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FLOWS).parent.mkdir()
    (tmp_path / FLOWS).touch()
    monkeypatch.chdir(tmp_path)

    assert enter_checkout() == {"directory": str(tmp_path)}


def test_a_named_one_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT, str(tmp_path))
    monkeypatch.chdir(SOURCE)

    assert enter_checkout() == {"directory": str(tmp_path)}
    assert os.getcwd() == str(tmp_path)  # noqa: PTH109


def test_each_deployment_starts_in_the_worker_s_folder() -> None:
    document = yaml.safe_load((SOURCE / "prefect.yaml").read_text())
    assert {
        one["work_pool"]["job_variables"]["working_dir"] for one in document["deployments"]
    } == {"."}
