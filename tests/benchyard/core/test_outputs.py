"""Files that users name for output: what is replaced, what is written into, what is refused."""

import os
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from benchyard.core.outputs import Output, failed, size_of, write

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")


def device(folder: Path, name: str, minor: int) -> Path:
    """Make what /dev has as null (minor 3) or full (minor 7), in a folder of the test's own."""
    path = folder / name
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    return path


def test_a_regular_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("old")
    other = tmp_path / "other"
    os.link(file, other)
    output = Output.opened(file)
    write(output, "new")
    assert (file.read_text(), other.read_text()) == ("new", "old")
    assert size_of(output) == 3
    assert sorted(tmp_path.iterdir()) == [file, other]


def test_a_refused_file_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        Output.opened(Path("/proc/x.json"))
    Output.opened(tmp_path / "never-written.json").close()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("old", ["", "much longer than what is written"])
def test_a_link_stays_and_its_file_is_written(tmp_path: Path, old: str) -> None:
    file, link = tmp_path / "real.json", tmp_path / "link.json"
    file.write_text(old)
    link.symlink_to(file.name)
    with closing(Output.opened(link)) as output:
        assert file.read_text() == old
        write(output, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_link_to_nothing_yet_stays_too(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to("real.json")
    with closing(Output.opened(link)) as output:
        write(output, "new")
    assert link.is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@ROOT
def test_a_device_stays_a_device(tmp_path: Path) -> None:
    null = device(tmp_path, "null", 3)
    with closing(Output.opened(null)) as output:
        write(output, "into the void")
    assert not failed(output)
    assert null.is_char_device()


@ROOT
def test_an_output_that_fails_says_so_and_raises_nothing(tmp_path: Path) -> None:
    with closing(Output.opened(device(tmp_path, "full", 7))) as full:
        write(full, "x")
    assert failed(full)
    assert full.error is not None
    assert "No space left" in str(full.error)


def test_a_pipe_without_a_reader_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a named pipe that no program reads"):
        Output.opened(pipe)


def test_a_pipe_gets_all_of_it_also_later(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    output = Output.opened(pipe, (".svg", ".png"))
    os.set_blocking(reader, True)
    with subprocess.Popen(["/usr/bin/wc", "-c"], stdin=reader, stdout=subprocess.PIPE) as counting:
        os.close(reader)
        assert output.suffix == ".svg"
        write(output, "x" * 1_000_000)
        output.close()
        assert counting.communicate()[0].split() == [b"1000000"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_a_descriptor_is_written_where_it_stands(tmp_path: Path, name: str) -> None:
    file = tmp_path / "log"
    with file.open("wb") as log:
        log.write(b"before ")
        log.flush()
        if name == "link":
            (tmp_path / "link").symlink_to(f"/dev/fd/{log.fileno()}")
            output = Output.opened(tmp_path / "link")
        else:
            output = Output.opened(Path(name.format(log.fileno())))
        write(output, "it")
        output.close()
        log.write(b" after")
    assert file.read_text() == "before it after"


def test_a_descriptor_for_reading_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("kept")
    with (
        (tmp_path / "in").open() as stream,
        pytest.raises(OSError, match="open for reading only"),
    ):
        Output.opened(Path(f"/dev/fd/{stream.fileno()}"))
    assert (tmp_path / "in").read_text() == "kept"


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_each_name_of_stdout_is_stdout(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    output = Output.opened(Path(name), (".csv",))
    assert (output.is_stdout, output.suffix) == (True, ".csv")
    write(output, "a,b\n")
    assert capsys.readouterr().out == "a,b\n"


def test_what_is_made_in_part_is_never_written(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("real")

    def write_half() -> None:
        with closing(Output.opened(link)) as output, output.writing() as stream:
            stream.write(b"one")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        write_half()
    assert (tmp_path / "real").read_text() == ""
