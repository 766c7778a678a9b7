"""Virtuoso: its container to the letter, and what its loader is told and says."""

from typing import Any

import pytest

from benchyard.case.resource import Workspace
from resources._containers.settings import ContainerSettings
from resources.virtuoso import FINISH, Virtuoso, refuse_unloaded, register
from tests.resources.containers import refusal


def made(workspace: Workspace, **settings: Any) -> Any:
    return Virtuoso(ContainerSettings(**settings), workspace)


def test_a_case_may_say_otherwise(workspace: Workspace) -> None:
    environment = {"VIRT_Parameters_NumberOfBuffers": "10000", "DBA_PASSWORD": "other"}
    specification = made(workspace, environment=environment)._specification()
    assert environment.items() <= specification.environment.items()


@pytest.mark.parametrize("name", ["a'b.nt", "a;b.nt", "$U{a}.nt", "a\\b.nt", 'a"b', "a\nb", "%"])
def test_defect_40_a_name_that_isql_would_misread_is_refused(name: str) -> None:
    assert "rename it" in refusal(lambda: register("/usr/share/proj", name))
    assert "rename it" in refusal(lambda: register(f"/usr/share/proj/{name}", "a.nt"))


@pytest.mark.parametrize("loaded", [None, 1, 3])
def test_defect_04_the_list_of_the_loader_is_read(loaded: int | None) -> None:
    said = f"{FINISH}\nconcat\n\n" + (f"benchyard loaded {loaded}\n" if loaded else "")
    why = f"loaded {loaded or 0} of 2 files"
    assert why in refusal(lambda: refuse_unloaded(said, 2))


def test_cores_and_files_are_looked_at_first(workspace: Workspace) -> None:
    resource = made(workspace)
    (workspace.shared / "rdf").mkdir()
    assert "cores is 0" in refusal(lambda: resource.load_parallel("a.nt", 0))
    assert "there is no file 'a.nt'" in refusal(lambda: resource.load("a.nt"))
    assert "there is no file 'rdf/a.nt'" in refusal(lambda: resource.load("a.nt", "rdf"))
    assert "is named like '*.nt'" in refusal(lambda: resource.load("*.nt", "rdf"))
    assert "outside of data/shared" in refusal(lambda: resource.load("../../a.nt"))
