import os
import threading
from pathlib import Path
from typing import IO

import pytest

from benchyard.catalogue.catalogue import Catalogue
from benchyard.catalogue.explain import ExplainManager, ExplainStatus
from benchyard.catalogue.mindspore import explain_job
from benchyard.core.errors import InputError, RecordError
from tests.benchyard.catalogue.formats.samples import write
from tests.benchyard.catalogue.mindspore.writing import METADATA, record, sample, write_job
from tests.conftest import eventually


def jobs(folder: Path, number: int) -> list[str]:
    """Write some jobs, each changed a minute after the one before; the newest is named first."""
    names = [f"job{count}" for count in range(number)]
    for count, name in enumerate(names):
        path = write_job(folder / name, METADATA, sample(count))
        os.utime(path, (60 * count, 60 * count))
    return [f"./{name}" for name in reversed(names)]


def samples_of(manager: ExplainManager, name: str) -> list[int]:
    job = manager.get_job(loader_id=name)
    return list(job.samples) if job else []


def until(manager: ExplainManager, *wanted: ExplainStatus) -> None:
    assert eventually(lambda: manager.status in wanted, 30), manager.status


def names(manager: ExplainManager, *page: int, **how: bool) -> list[str]:
    return [job["relative_path"] for job in manager.get_job_list(*page, **how)[1]]


def test_the_list_has_true_offsets_and_the_newest_first(tmp_path: Path) -> None:
    newest_first = jobs(tmp_path, 5)
    manager = ExplainManager(tmp_path)
    total, page = manager.get_job_list(1, 2)
    assert total == 5
    assert [job["relative_path"] for job in page] == newest_first[1:3]
    assert page[0]["explain_files"] == 1
    assert page[0]["update_time"].timestamp() == 180
    assert names(manager, 1, 2, page_number=True) == newest_first[2:4]
    assert manager.get_job_list(0, None)[0] == len(names(manager, 0)) == 5


def test_more_than_999_jobs_are_listed(tmp_path: Path) -> None:
    for count in range(1005):
        path = write(tmp_path, f"job{count}/a.summary.1_explain", b"")
        os.utime(path, (60 * count, 60 * count))
    manager = ExplainManager(tmp_path)
    assert names(manager, 0, 3) == ["./job1004", "./job1003", "./job1002"]
    assert names(manager, 1003, 10) == ["./job1", "./job0"]
    assert manager.get_job_list()[0] == 1005


@pytest.mark.parametrize(("offset", "limit"), [(-1, 10), (0, 0), (0, -3)])
def test_an_impossible_page_is_refused(tmp_path: Path, offset: int, limit: int) -> None:
    with pytest.raises(InputError, match="offset must be 0 or more"):
        ExplainManager(tmp_path).get_job_list(offset, limit)


def test_a_job_is_given_by_its_path_and_by_its_id(tmp_path: Path) -> None:
    jobs(tmp_path, 2)
    manager = ExplainManager(str(tmp_path))
    entry_id = manager.get_job_list()[1][0]["id"]
    for name in ("./job1", "job1", "./job1/", entry_id):
        assert samples_of(manager, name) == [1]
    assert manager.status is ExplainStatus.INIT


@pytest.mark.parametrize(
    "name", ["./gone", "", "../x", "job0/../job0", "a\0b", "\ud800", "x" * 300, "./job0/.."]
)
def test_an_unknown_job_is_none(tmp_path: Path, name: str) -> None:
    jobs(tmp_path, 1)
    assert ExplainManager(tmp_path).get_job(name) is None


def test_a_job_in_the_base_folder_is_one(tmp_path: Path) -> None:
    write_job(tmp_path, METADATA, sample(4))
    manager = ExplainManager(tmp_path)
    assert names(manager) == ["./"]
    assert samples_of(manager, "./") == [4]


def test_a_job_that_came_later_is_found(tmp_path: Path) -> None:
    manager = ExplainManager(Catalogue([tmp_path]))
    assert manager.get_job("./job0") is None
    jobs(tmp_path, 1)
    assert samples_of(manager, "./job0") == [0]


def test_loading_ends_done_and_what_grows_is_seen(tmp_path: Path) -> None:
    jobs(tmp_path, 4)
    manager = ExplainManager(tmp_path)
    manager.start_load_data()
    until(manager, ExplainStatus.DONE)
    with (tmp_path / "job3" / "mindspore.summary.1700000000_explain").open("ab") as stream:
        stream.write(record(sample(77)))
    assert samples_of(manager, "./job3") == [3, 77]
    manager.stop_load_data()


def test_loading_without_any_job_is_invalid_until_there_is_one(tmp_path: Path) -> None:
    manager = ExplainManager(tmp_path)
    manager.start_load_data(reload_interval=0.01)
    until(manager, ExplainStatus.INVALID)
    jobs(tmp_path, 1)
    until(manager, ExplainStatus.DONE)
    manager.stop_load_data()


def test_a_job_that_fails_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs(tmp_path, 2)
    broken = write_job(tmp_path / "broken", METADATA)

    def refusing(path: Path) -> IO[bytes]:
        if path == broken:
            raise PermissionError(13, "Permission denied", str(path))
        return path.open("rb")

    monkeypatch.setattr(explain_job, "opened", refusing)
    manager = ExplainManager(tmp_path)
    manager.start_load_data()
    until(manager, ExplainStatus.DONE)
    manager.stop_load_data()
    assert any("broken" in trouble for trouble in manager.troubles)
    with pytest.raises(RecordError, match="cannot be read"):
        manager.get_job("./broken")
    assert manager.get_job("./job1") is not None


def test_calls_take_what_those_of_mindinsight_take(tmp_path: Path) -> None:
    manager = ExplainManager(summary_base_dir=str(tmp_path / "later"))
    assert manager.summary_base_dir == str(tmp_path / "later")
    assert manager.get_job_list() == (0, [])
    assert manager.get_job(loader_id="./job0") is None
    newest_first = jobs(tmp_path / "later", 12)
    total, every = manager.get_job_list(offset=3, limit=None)
    assert (total, [job["relative_path"] for job in every]) == (12, newest_first)
    assert manager.get_job(loader_id="./job0") is not None
    unknown = {"train_id": "./job0"}
    with pytest.raises(TypeError, match="train_id"):
        manager.get_job(**unknown)


def test_a_job_of_which_nothing_can_be_read_is_marked_in_the_list(tmp_path: Path) -> None:
    jobs(tmp_path, 1)
    write(tmp_path, "odd/a.summary.1_explain", b"this is no summary at all")
    by_name = {one["relative_path"]: one for one in ExplainManager(tmp_path).get_job_list()[1]}
    assert by_name["./job0"]["broken"] == ""
    assert "checksum of a record's length is wrong" in by_name["./odd"]["broken"]


@pytest.mark.parametrize("interval", [-1, float("nan")])
def test_an_impossible_interval_is_refused(tmp_path: Path, interval: float) -> None:
    with pytest.raises(InputError, match="0 or more seconds"):
        ExplainManager(tmp_path).start_load_data(interval)


def test_a_thread_that_sleeps_stops_at_once_and_is_the_only_one(tmp_path: Path) -> None:
    manager = ExplainManager(tmp_path)
    manager.start_load_data(3600)
    manager.start_load_data(3600)
    until(manager, ExplainStatus.INVALID)
    threads = [one for one in threading.enumerate() if one.name == "load explain jobs"]
    assert len(threads) == 1
    manager.stop_load_data()
    assert not threads[0].is_alive()
