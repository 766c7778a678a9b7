"""What becomes of the files that steps make."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchyard.case.resource import Workspace
from benchyard.core.errors import CommandFailedError
from benchyard.core.files import sha256
from benchyard.core.model import Step
from benchyard.run.workspaces import Declared, account, keep, kept_folder, local_ports, mirror

NO_OUTPUT = "outside of data/shared|would overwrite an input of that name"


@pytest.fixture
def shared(tmp_path: Path, inputs: Path) -> Path:
    folder = tmp_path / "run_1" / ".work" / "shared"
    mirror(inputs, folder)
    return folder


@pytest.fixture
def run(shared: Path) -> Path:
    return shared.parent.parent


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def declared(name: str, resource: str = "Toy", step: str = "01-map") -> Declared:
    return Declared(name, resource, step)


# -- the workspace


@pytest.fixture
def workspace(tmp_path: Path, inputs: Path, shared: Path) -> Workspace:
    return Workspace(inputs, shared, tmp_path / "own", tmp_path / "kept")


def test_the_workspace_reads_inputs_and_what_steps_made(workspace: Workspace) -> None:
    workspace.new_file("made/out.nt").write_text("out")
    assert workspace.file("made/out.nt").read_text() == "out"
    assert workspace.file("sub/deep.csv").read_text() == "deep"
    assert workspace.file("alias.nt").read_text() == "in"
    with pytest.raises(CommandFailedError, match="there is no file 'absent'"):
        workspace.file("absent")


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "out", "sub/../../../../x"])
def test_the_workspace_leads_nowhere_else(workspace: Workspace, name: str) -> None:
    (workspace.shared / "out").symlink_to("/etc/hostname")
    with pytest.raises(CommandFailedError, match=r"outside of data/shared"):
        workspace.file(name)
    with pytest.raises(CommandFailedError, match=NO_OUTPUT):
        workspace.new_file(name)


@pytest.mark.parametrize("name", ["input.nt", "alias.nt", "linked/deep.csv"])
def test_no_output_is_written_over_an_input(workspace: Workspace, name: str) -> None:
    with pytest.raises(CommandFailedError, match=NO_OUTPUT):
        workspace.new_file(name)


# -- keeping


@pytest.mark.parametrize("name", ["out.nq", "out.ttl", "out", "out.csv.gz", ".hidden", "a b-é.x"])
def test_defect_33_outputs_of_any_suffix_are_kept(shared: Path, run: Path, name: str) -> None:
    (shared / name).write_text("out")
    keep([declared(name)], shared, run)
    assert (run / "toy" / name).read_text() == "out"
    assert not (shared / name).exists()


def test_an_output_that_was_not_made_is_no_trouble(shared: Path, run: Path) -> None:
    keep([declared("absent.nt"), declared("sub/absent.nt")], shared, run)
    assert not (run / "toy").exists()


@pytest.mark.parametrize(("made", "name"), [("out/deep/a.nt", "out"), ("sub/out.nt", "sub/out.nt")])
def test_folders_are_kept_whole_and_outputs_in_them_keep_their_place(
    shared: Path, run: Path, made: str, name: str
) -> None:
    (shared / made).parent.mkdir(parents=True, exist_ok=True)
    (shared / made).touch()
    keep([declared(name)], shared, run)
    assert [p for p in tree(run / "toy") if (run / "toy" / p).is_file()] == [made]


def test_defect_34_a_folder_is_not_moved_into_its_namesake(shared: Path, run: Path) -> None:
    for number in (1, 2):
        (shared / "out").mkdir()
        (shared / "out" / f"{number}.nt").touch()
        keep([declared("out", step=f"0{number}-map")], shared, run)
    assert tree(run / "toy") == ["02-map", "02-map/out", "02-map/out/2.nt", "out", "out/1.nt"]


def test_two_resources_keep_apart(shared: Path, run: Path) -> None:
    assert kept_folder(run, "My_Engine") == run / "myengine"
    for resource in ("One", "Two"):
        (shared / "out.nt").write_text(resource)
        keep([declared("out.nt", resource)], shared, run)
    assert (run / "one" / "out.nt").read_text() == "One"
    assert (run / "two" / "out.nt").read_text() == "Two"


def test_the_account_has_size_and_digest_of_each_kept_file(shared: Path, run: Path) -> None:
    (shared / "out.nt").write_text("out")
    (shared / "b.nt").write_text("")
    keep([declared("out.nt", "Two"), declared("b.nt", "One")], shared, run)
    (run / "log.txt").touch()
    assert account(run, ["Two", "One", "None_at_all"]) == (
        {"path": "one/b.nt", "bytes": 0, "sha256": sha256(run / "one" / "b.nt")},
        {"path": "two/out.nt", "bytes": 3, "sha256": sha256(run / "two" / "out.nt")},
    )


NONE: set[int] = set()
TEXT = st.text(max_size=40)
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("value", "ports"),
    [
        ("http://localhost:8890/sparql", {8890}),
        ("127.0.0.1:5432", {5432}),
        ("[::1]:80/x and jdbc:postgresql://localhost:5432/db", {80, 5432}),
        *(
            (text, NONE)
            for text in (
                *("http://localhost/sparql", "http://example.org:8890/", "notlocalhost:8890"),
                *("my.localhost:8890", "10.127.0.0.1:8890", "localhost:0", "localhost:65536"),
                "localhost:123456",
            )
        ),
        ({"a": ["x", {"b": "localhost:81"}], "c": "localhost:82", "d": 83, "e": None}, {81, 82}),
    ],
)
def test_addresses_on_this_host_are_found(value: Any, ports: set[int]) -> None:
    assert local_ports([step({"endpoint": value}), step({"f": "localhost:84"})]) == ports | {84}


def step(parameters: Any) -> Step:
    return Step(1, "a", "a", "Alpha", "work", parameters)


@given(JSON, st.integers(1, 65535))
def test_any_parameters_can_be_read(value: Any, port: int) -> None:
    found = local_ports([step({"x": value, "y": f"localhost:{port}"})])
    assert port in found
    assert all(0 < one < 65536 for one in found)
