"""A worker, and ``deploy``, started in a folder full of traps, with a lab to speak to."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchyard.lab.labs import FINAL, Shell, add_case, make_shell
from tests.conftest import eventually
from tests.tasks.test_trust import set_traps

pytestmark = [pytest.mark.slow, pytest.mark.lab, pytest.mark.long]


@dataclass
class Trapped(Shell):
    """A place whose commands are typed as users do: ``python -m`` looks into the current folder."""

    def command(self, *arguments: str | Path) -> list[str]:
        return [str(Path(sys.executable).with_name("benchyard")), *map(str, arguments)]


def test_nothing_of_the_current_folder_is_executed_with_a_lab_to_speak_to(tmp_path: Path) -> None:
    shell = make_shell(tmp_path)
    checkout, case = shell.checkout, add_case(shell.checkout, "quick", "true")
    folder, sprung = tmp_path / "here", tmp_path / "traps"
    folder.mkdir()
    sprung.mkdir()
    set_traps(folder, sprung / "sprung")
    with shell.up("--name", "bench") as lab:
        more = {**lab.variables, "PYTHONPATH": str(checkout)}
        here = Trapped(tmp_path / "other", folder, more)
        here.home.mkdir()
        deployed = here.run("deploy", "--prefect-yaml", checkout / "prefect.yaml")
        assert deployed.returncode == 0, deployed.stderr
        with here.running("worker", "--testbed", "here", "--checkout", str(checkout)) as worker:
            assert eventually(lambda: "the testbed here serves the lab" in worker.said, 180)
            assert lab.wait_for(lab.start(case, queue="here"), *FINAL) == "COMPLETED"
    assert list(sprung.iterdir()) == []
