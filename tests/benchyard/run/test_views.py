"""The run's own view of the inputs, and whether a run left them as they were."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from benchyard.run import workspaces
from benchyard.run.workspaces import View, mirror


@pytest.fixture
def inputs(inputs: Path, tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "far.csv").write_text("far")
    (inputs / "outer").symlink_to(tmp_path / "outside")
    return inputs


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "run_1" / ".work" / "shared"


@pytest.fixture
def view(inputs: Path, shared: Path) -> View:
    return View(inputs, shared)


@pytest.fixture
def linking(monkeypatch: pytest.MonkeyPatch, inputs: Path, shared: Path) -> View:
    """A view of inputs that are too large to be copied."""
    monkeypatch.setattr(workspaces, "COPIED_BYTES", 0)
    return View(inputs, shared)


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# -- the view


def test_the_view_has_every_input(inputs: Path, shared: Path, view: View) -> None:
    assert set(tree(shared)) == {*tree(inputs), "outer/far.csv"}
    assert sorted(view.copies) == ["alias.nt", "input.nt", "outer/far.csv", "sub/deep.csv"]
    for name, text in (("input.nt", "in"), ("alias.nt", "in"), ("linked/deep.csv", "deep")):
        assert (shared / name).read_text() == text
    assert (shared / "outer" / "far.csv").read_text() == "far"


def test_copies_cannot_be_written_to_and_keep_times_and_execution(
    inputs: Path, shared: Path
) -> None:
    (inputs / "tool").write_text("#!/bin/sh")
    (inputs / "tool").chmod(0o750)
    (inputs / "input.nt").chmod(0o640)
    mirror(inputs, shared)
    assert (shared / "tool").stat().st_mode & 0o777 == 0o550
    assert (shared / "input.nt").stat().st_mode & 0o777 == 0o440
    for name in ("tool", "input.nt"):
        assert (shared / name).stat().st_mtime_ns == (inputs / name).stat().st_mtime_ns


def test_what_is_large_is_linked_and_small_files_come_first(
    monkeypatch: pytest.MonkeyPatch, inputs: Path, shared: Path
) -> None:
    monkeypatch.setattr(workspaces, "COPIED_BYTES", 7)
    copies = mirror(inputs, shared)
    assert sorted(copies) == ["alias.nt", "input.nt", "outer/far.csv"]
    assert (shared / "sub" / "deep.csv").readlink() == inputs / "sub" / "deep.csv"


def test_what_is_made_beside_the_inputs_does_not_reach_them(
    tmp_path: Path, inputs: Path, shared: Path, linking: View
) -> None:
    before, outside = tree(inputs), tree(tmp_path / "outside")
    for name in ("out.nt", "sub/out.nt", "linked/more.nt", "outer/out.nt"):
        (shared / name).touch()
    (shared / "input.nt").unlink()
    assert (shared / "sub" / "more.nt").exists()
    shutil.rmtree(shared)
    assert (tree(inputs), tree(tmp_path / "outside")) == (before, outside)
    assert linking.changed() == ()


def test_a_link_to_where_the_inputs_lie_leads_back_into_the_view(
    inputs: Path, shared: Path
) -> None:
    (inputs / "up").symlink_to("..")
    (inputs / "again").symlink_to(inputs.parent)
    mirror(inputs, shared)
    assert (shared / "up").resolve() == shared / "again"
    assert (shared / "up" / "shared").resolve() == shared


def test_pipes_and_links_to_nowhere_are_linked(inputs: Path, shared: Path) -> None:
    os.mkfifo(inputs / "pipe")
    (inputs / "nowhere").symlink_to("absent")
    mirror(inputs, shared)
    assert (shared / "pipe").is_symlink()
    assert (shared / "nowhere").is_symlink()


# -- inputs that a run changed


def test_untouched_inputs_are_unchanged(inputs: Path, view: View) -> None:
    (inputs / "input.nt").read_text()
    assert (view.changed(), view.changed_copies()) == ((), ())


def test_a_program_that_writes_to_an_input_does_not_reach_it(
    inputs: Path, shared: Path, view: View
) -> None:
    script = "echo more >> input.nt; echo >> outer/far.csv"
    subprocess.run(["/bin/sh", "-c", script], cwd=shared, check=False)
    assert (inputs / "input.nt").read_text() == "in"
    assert view.changed() == ()
    if not os.geteuid():  # root may write all the same
        assert view.changed_copies() == ("input.nt", "outer/far.csv")


def test_a_copy_that_the_run_replaced_is_its_own_business(shared: Path, view: View) -> None:
    (shared / "new").write_text("mine")
    (shared / "new").replace(shared / "input.nt")
    (shared / "alias.nt").unlink()
    assert view.changed_copies() == ()


def test_what_is_written_through_a_link_is_found(shared: Path, linking: View) -> None:
    for name in ("input.nt", "linked/deep.csv", "outer/far.csv"):
        with (shared / name).open("a") as stream:
            stream.write("!")
    assert linking.changed() == ("alias.nt", "input.nt", "outer/far.csv", "sub/deep.csv")


def test_removed_and_added_inputs_are_found(inputs: Path, view: View) -> None:
    (inputs / "alias.nt").unlink()
    (inputs / "sub" / "new").touch()
    assert view.changed() == ("alias.nt", "sub/new")


def test_an_input_of_the_same_size_and_time_is_found(inputs: Path, view: View) -> None:
    times = (inputs / "input.nt").stat()
    (inputs / "input.nt").write_text("IN")
    os.utime(inputs / "input.nt", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert view.changed() == ("alias.nt", "input.nt")


def test_an_input_that_is_written_to_by_its_other_name_is_found(
    tmp_path: Path, inputs: Path, shared: Path
) -> None:
    (tmp_path / "other-name").hardlink_to(inputs / "input.nt")
    view = View(inputs, shared)
    (tmp_path / "other-name").write_text("IN")
    assert view.changed() == ("alias.nt", "input.nt")


def test_another_name_mode_or_time_is_no_change(tmp_path: Path, inputs: Path, view: View) -> None:
    (tmp_path / "backup").hardlink_to(inputs / "input.nt")
    (inputs / "sub" / "deep.csv").chmod(0o600)
    os.utime(inputs / "input.nt", ns=(0, 0))
    assert view.changed() == ()
