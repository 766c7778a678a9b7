"""The publisher with one sink and one archive, in one process."""

import errno
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from benchyard.core.errors import InputError, SinkError, SinkUnavailableError, UnreachableError
from benchyard.publish import publisher
from benchyard.publish.archive import LocalArchive
from benchyard.publish.claims import claimed
from benchyard.publish.compression import Compression, compress
from benchyard.publish.outcome import Begun, Happening, Left, Published, PublishResult, Retrying
from benchyard.publish.publisher import Manner, StopSignal, deliver, publish
from benchyard.publish.sinks.contract import DocumentKind, Spooled
from benchyard.publish.sinks.sending import RetryPolicy
from tests.benchyard.publish.conftest import Fill, names, raising, write
from tests.benchyard.publish.fake_sinks import Failing, FolderSink, NotingSink

HASTY = RetryPolicy(retries=2, first_s=0.001)
DOWN = SinkUnavailableError("the sink is down; start it")


@dataclass
class Lab:
    """A spool, a sink and an archive."""

    spool: Path
    sink: FolderSink
    to: LocalArchive
    fill: Fill

    def run(self, **manner: Any) -> PublishResult:
        """Publish without patience."""
        return publish(self.spool, self.sink, self.to, replace(Manner(HASTY), **manner))


@pytest.fixture
def lab(tmp_path: Path, spool: Path, sink: FolderSink, fill: Fill) -> Lab:
    return Lab(spool, sink, LocalArchive(tmp_path / "archive"), fill)


def published(outcome: PublishResult) -> list[str]:
    return [one.name for one in outcome.published]


# -- as it should be


def test_files_go_oldest_first_to_the_sink_and_the_archive(lab: Lab) -> None:
    lab.fill("c.json", "a.json", "b.json")
    outcome = lab.run()
    assert lab.sink.stored == published(outcome) == ["c.json", "a.json", "b.json"]
    assert lab.sink.pointers == [str(lab.to.folder / name) for name in lab.sink.stored]
    assert names(lab.to.folder) == ["a.json", "b.json", "c.json"]
    assert names(lab.spool) == []
    assert outcome.is_clean
    assert lab.run() == PublishResult("fake")


def test_a_compressed_file_is_stored_plain_and_archived_as_it_lies(lab: Lab) -> None:
    seen: list[Spooled] = []
    lab.sink.before = seen.append
    write(lab.spool / "a.json.zst", compress(b'{"a": 1}', Compression.ZST))
    lab.run()
    assert [(one.name, one.content) for one in seen] == [("a.json", b'{"a": 1}')]
    assert seen[0].archived_as == str(lab.to.folder / "a.json.zst")
    assert names(lab.to.folder) == ["a.json.zst"]


def test_the_lock_is_held_until_it_is_archived(lab: Lab) -> None:
    lab.fill("a.json")
    held: list[object] = []

    def look(_: Spooled) -> None:
        with claimed(lab.spool / "a.json") as claim:
            held.append(claim)

    lab.sink.before = lab.sink.after = look
    assert lab.run().is_clean
    assert held == [None, None]


def test_what_is_told_while_it_goes_on(lab: Lab) -> None:
    lab.fill("a.json", "b.json")
    lab.sink.before = Failing(DOWN, times=1)
    told: list[Happening] = []
    me = threading.current_thread()

    def listen(happening: Happening) -> None:
        assert threading.current_thread() is me
        told.append(happening)

    assert lab.run(listener=listen).is_clean
    begun, retrying, *rest = told
    assert begun == Begun("fake", files=2)
    assert isinstance(retrying, Retrying)
    assert (retrying.name, retrying.reason) == ("a.json", str(DOWN))
    assert [type(one) for one in rest] == [Published, Published]


def test_events_are_for_sinks_that_take_them(lab: Lab) -> None:
    lab.fill("a.json", "a.events.jsonl")
    outcome = lab.run()
    assert published(outcome) == ["a.json"]
    assert outcome.left_alone == 1
    lab.sink.kind = DocumentKind.EVENTS
    assert published(lab.run()) == ["a.events.jsonl"]
    assert names(lab.spool) == []


@pytest.mark.parametrize("deaf", [False, True])
def test_a_sink_is_told_of_archiving_and_a_warning_tells_if_that_failed(
    lab: Lab, *, deaf: bool
) -> None:
    lab.fill("a.json")
    sink = NotingSink(lab.to.folder.parent / "sink", deaf=deaf)
    outcome = publish(lab.spool, sink, lab.to, Manner(HASTY))
    assert sink.noted == ([] if deaf else ["a.json"])
    assert bool(outcome.published[0].warning) is deaf
    assert outcome.is_clean
    assert names(lab.spool) == []


# -- in parallel


def test_a_sink_is_called_as_often_at_once_as_it_likes_once_the_first_file_went(lab: Lab) -> None:
    wanted = lab.fill(*(f"{number:02}.json" for number in range(21)))
    lab.sink.parallel = 4
    together = threading.Barrier(4, timeout=60)
    lab.sink.before = lambda one: one.name == "00.json" or together.wait()
    assert sorted(published(lab.run())) == wanted
    assert {name[:2] for name in lab.sink.stored[:5]} == {"00", "01", "02", "03", "04"}


@pytest.mark.parametrize("large", [True, False])
def test_large_files_and_sinks_that_take_one_at_a_time_get_one_at_a_time(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    if large:
        lab.sink.parallel = 4
        monkeypatch.setattr(publisher, "_LARGE", 0)
    lab.fill(*(f"{number:02}.json" for number in range(20)))
    at_once = 0

    def begin(_: Spooled) -> None:
        nonlocal at_once
        at_once += 1
        time.sleep(0.005)  # others that may come would come now
        assert at_once == 1

    def end(_: Spooled) -> None:
        nonlocal at_once
        at_once -= 1

    lab.sink.before, lab.sink.after = begin, end
    assert lab.run().is_clean


def test_publishers_at_once_store_each_file_once(lab: Lab) -> None:
    wanted = lab.fill(*(f"{number:02}.json" for number in range(60)))
    lab.sink.parallel = 2
    with ThreadPoolExecutor(3) as threads:
        begun = [threads.submit(publish, lab.spool, lab.sink, lab.to) for _ in range(3)]
        outcomes = [one.result() for one in begun]
    assert sorted(lab.sink.stored) == wanted
    assert sorted(name for one in outcomes for name in published(one)) == wanted
    assert all(outcome.is_clean for outcome in outcomes)
    assert sum(len(one.published) + one.elsewhere for one in outcomes) >= 60


# -- the sink


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_sink_that_is_down_leaves_everything(lab: Lab, parallel: int) -> None:
    wanted = lab.fill(*(f"{number:02}.json" for number in range(10)))
    lab.sink.before = failing = Failing(DOWN)
    lab.sink.parallel = parallel
    outcome = lab.run()
    assert outcome.error == str(DOWN)
    assert sorted(left.name for left in outcome.waiting) == names(lab.spool) == wanted
    assert outcome.waiting[0].reason == str(DOWN)
    assert outcome.waiting[-1] == Left("09.json")
    assert not outcome.is_clean
    assert names(lab.to.folder) == []
    assert failing.calls == 3
    lab.sink.before = lambda _: None
    assert sorted(published(lab.run())) == wanted


def test_a_sink_that_goes_down_on_the_way(lab: Lab) -> None:
    lab.fill("a.json", "b.json", "c.json")

    def down_from_b(spooled: Spooled) -> None:
        if spooled.name != "a.json":
            raise DOWN

    lab.sink.before = down_from_b
    outcome = lab.run()
    assert published(outcome) == ["a.json"]
    assert [left.name for left in outcome.waiting] == ["b.json", "c.json"]


def test_an_answer_that_was_lost_is_asked_for_again(lab: Lab) -> None:
    lab.fill("a.json")
    lab.sink.after = Failing(DOWN, times=1)
    assert lab.run().is_clean
    assert lab.sink.stored == ["a.json", "a.json"], "the sink is told the same twice and keeps one"
    assert names(lab.to.folder) == ["a.json"]


def test_what_is_rejected_is_put_aside_and_the_rest_goes_on(lab: Lab) -> None:
    lab.fill("a.json", "b.json.gz", "d.json")
    lab.fill("c.json", content="reject me")
    outcome = lab.run()
    reasons = {one.name: one.reason for one in outcome.rejected}
    assert reasons["c.json"] == "it says so itself"
    assert reasons["b.json.gz"].startswith("its compression is damaged: ")
    assert sorted(published(outcome)) == ["a.json", "d.json"]
    assert names(lab.spool) == ["rejected"]
    aside = [name for kept in reasons for name in (kept, f"{kept}.reason.txt")]
    assert names(lab.spool / "rejected") == sorted(aside)
    assert not outcome.is_clean
    assert lab.run() == PublishResult("fake")


@pytest.mark.parametrize(
    ("error", "policy", "calls", "says"),
    [
        (RuntimeError("mistake"), HASTY, 3, "sink fake: unexpected RuntimeError: mistake"),
        (InputError("no permission; log in"), HASTY, 1, "no permission; log in"),
        (DOWN, RetryPolicy(retries=0), 1, str(DOWN)),
        # Never reached, so not waited for.
        (UnreachableError("nobody"), RetryPolicy(5, first_s=1000, longest_s=1000), 1, "nobody"),
    ],
)
def test_after_what_nothing_more_is_tried(
    lab: Lab, error: Exception, policy: RetryPolicy, calls: int, says: str
) -> None:
    lab.fill(*(f"{number}.json" for number in range(9)))
    lab.sink.before, lab.sink.parallel = (failing := Failing(error)), 8 if calls == 1 else 1
    told: list[Happening] = []
    outcome = lab.run(policy=policy, listener=told.append)
    assert failing.calls == calls
    assert not any(isinstance(one, Retrying) for one in told)
    assert outcome.error == says
    assert len(outcome.waiting) == 9


def test_a_sink_that_was_reached_once_is_waited_for(lab: Lab) -> None:
    lab.fill("a.json", "b.json")
    away = Failing(UnreachableError("nobody is there"), times=2)
    lab.sink.before = lambda one: one.name == "a.json" or away(one)
    assert lab.run().is_clean
    assert away.calls == 3


def test_a_sink_that_says_when_to_come_back_is_obeyed(lab: Lab) -> None:
    lab.fill("a.json")
    lab.sink.before = Failing(SinkUnavailableError("busy", 0.002), times=1)
    told: list[Happening] = []
    assert lab.run(policy=RetryPolicy(1, first_s=1000), listener=told.append).is_clean
    assert [one.seconds for one in told if isinstance(one, Retrying)] == [0.002]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SinkError("refused, who knows why"), "refused, who knows why"),
        (ZeroDivisionError("zero\nand"), "sink fake: unexpected ZeroDivisionError: zero and"),
    ],
)
def test_what_is_refused_for_no_known_reason_waits_and_the_others_go_on(
    lab: Lab, error: Exception, said: str
) -> None:
    lab.fill("a.json", "b.json")
    lab.sink.before = Failing(error, times=1)
    outcome = lab.run()
    assert outcome.waiting == (Left("a.json", said),)
    assert published(outcome) == ["b.json"]
    assert outcome.error is None
    assert not outcome.is_clean


# -- large files


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as stream:
        stream.truncate(size)
    os.utime(path, (time.time() - 9000, time.time() - 9000))
    return path


@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_what_is_too_large_is_put_aside_unread_and_the_others_go_on(lab: Lab, ending: str) -> None:
    lab.fill("a.json")
    for size in (10, 11):
        sparse(lab.spool / f"large.{ending}", size * 1024**3)
        [rejected] = lab.run().rejected
        assert f"larger than 64 MiB ({size * 1024:,} MiB)" in rejected.reason
    assert lab.sink.stored == ["a.json"]
    aside = [one for one in names(lab.spool / "rejected") if "reason" not in one]
    assert aside == [f"large.{ending}", f"large~2.{ending}"]


# -- the archive


@pytest.mark.requires("mount")
def test_a_full_archive_loses_nothing(lab: Lab, small_disk: Path) -> None:
    content = "x" * 40_000
    wanted = lab.fill(*(f"{number}.json" for number in range(8)), content=content)
    lab.to.folder = small_disk / "archive"
    lab.to.shown = str(lab.to.folder)
    outcome = lab.run()
    assert published(outcome) == ["0.json"]
    assert outcome.error == f"archive {small_disk}/archive: No space left on device"
    assert sorted(names(lab.spool) + names(lab.to.folder)) == wanted
    assert [left.reason for left in outcome.waiting][:3] == [outcome.error] * 3
    (lab.to.folder / "0.json").unlink()
    assert published(lab.run()) == ["1.json"]


def test_an_archive_that_cannot_be_made_is_told_before_anything_is_stored(lab: Lab) -> None:
    lab.fill("a.json")
    write(lab.to.folder, "a file")
    outcome = lab.run()
    assert outcome.error == f"archive {lab.to.folder}: File exists"
    assert outcome.waiting == (Left("a.json"),)
    assert lab.sink.stored == []


def test_a_name_that_only_the_archive_refuses_does_not_block_the_others(lab: Lab) -> None:
    lab.to.compression = Compression.ZST
    name = "n" * 249 + ".json"
    lab.fill(name, "b.json")
    outcome = lab.run()
    assert published(outcome) == ["b.json"]
    assert outcome.waiting == (Left(name, f"archive {lab.to.folder}: File name too long"),)


def test_one_name_from_two_spools(lab: Lab) -> None:
    for number in range(3):
        lab.fill("a.json", content=f"{{}}{number}")
        assert lab.run().is_clean
    lab.fill("a.json", content="{}1")
    outcome = lab.run()
    assert outcome.published[0].new is False
    assert outcome.to_json()["already_archived"] == ["a.json"]
    assert names(lab.to.folder) == ["a.json", "a~2.json", "a~3.json"]
    assert names(lab.spool) == []


# -- the spool


def test_a_file_that_cannot_be_read_waits_and_is_told(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.fill("a.json", "b.json")
    real = os.open

    def refused(path: Path | str, flags: int, *mode: int, **where: int) -> int:
        if Path(path).name == "a.json":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, flags, *mode, **where)

    monkeypatch.setattr(os, "open", refused)
    outcome = lab.run()
    assert outcome.waiting == (Left("a.json", "Permission denied"),)
    assert published(outcome) == ["b.json"]
    assert names(lab.spool) == ["a.json"]


def test_a_file_that_grows_while_it_is_stored_is_taken_the_next_time(lab: Lab) -> None:
    lab.fill("a.json")

    def grow(_: Spooled) -> None:
        with (lab.spool / "a.json").open("a") as stream:
            stream.write(" ")

    lab.sink.after = grow
    outcome = lab.run()
    assert "written to while" in outcome.waiting[0].reason
    assert names(lab.to.folder) == []
    lab.sink.after = lambda _: None
    assert lab.run().is_clean
    assert (lab.to.folder / "a.json").read_text() == '{"of": "a.json"} '


def test_a_file_that_is_replaced_while_it_is_stored_is_not_lost(lab: Lab) -> None:
    lab.fill("a.json")
    new = write(lab.spool / ".new", "second")
    lab.sink.after = lambda _: new.exists() and new.replace(lab.spool / "a.json")
    assert [left.name for left in lab.run().waiting] == ["a.json"]
    assert lab.run().is_clean
    assert (lab.to.folder / "a.json").read_text() == "second"
    assert names(lab.spool) == []


def test_a_test_that_is_still_writing_its_result_is_not_rejected(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publisher, "SETTLED_S", 3600)
    path = write(lab.spool / "a.json", "reject me")

    def written_meanwhile(_stop: StopSignal, _seconds: float) -> bool:
        write(path, '{"whole": 1}')
        return False

    with monkeypatch.context() as patch:
        patch.setattr(StopSignal, "wait", written_meanwhile)
        outcome = lab.run()
    assert "written to while" in outcome.waiting[0].reason
    assert lab.run().is_clean
    assert lab.sink.stored == ["a.json"]


@pytest.mark.parametrize(("settled", "from_now"), [(0.1, 0), (3600, 9000)])
def test_a_file_is_rejected_once_it_has_settled_and_at_once_if_it_is_from_the_future(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, settled: float, from_now: float
) -> None:
    monkeypatch.setattr(publisher, "SETTLED_S", settled)
    path = write(lab.spool / "a.json", "reject me")
    os.utime(path, (time.time() + from_now, time.time() + from_now))
    assert lab.run().rejected[0].name == "a.json"


def test_what_another_publisher_took_meanwhile_is_elsewhere(lab: Lab) -> None:
    lab.fill("a.json", "b.json", "c.json")
    lab.sink.before = lambda _: (lab.spool / "b.json").unlink(missing_ok=True)
    with claimed(lab.spool / "c.json"):
        outcome = lab.run()
    assert published(outcome) == ["a.json"]
    assert outcome.elsewhere == 2
    assert outcome.is_clean


# -- stopping


def test_who_wants_to_stop_gets_what_is_under_way_finished(lab: Lab) -> None:
    lab.fill("a.json", "b.json", "c.json")
    asked = threading.Event()
    lab.sink.before = lambda _: asked.set()
    outcome = lab.run(asked=asked)
    assert published(outcome) == names(lab.to.folder) == ["a.json"]
    assert outcome.interrupted
    assert outcome.error is None
    assert outcome.waiting == (Left("b.json"), Left("c.json"))
    (lab.spool / "c.json").unlink()
    asked.clear()
    assert not lab.run(asked=asked).interrupted, "it stops at the last file"
    assert asked.is_set()


def test_waiting_for_a_retry_ends_when_it_is_to_stop(lab: Lab) -> None:
    lab.fill("a.json", "b.json")
    asked = threading.Event()
    lab.sink.before = Failing(DOWN)

    def stop(happening: Happening) -> None:
        if isinstance(happening, Retrying):
            asked.set()

    outcome = lab.run(
        asked=asked, policy=RetryPolicy(5, first_s=1000, longest_s=1000), listener=stop
    )
    assert outcome.interrupted
    assert outcome.waiting == (Left("a.json", str(DOWN)), Left("b.json"))


def test_an_impatient_user_is_let_go_at_once(lab: Lab) -> None:
    lab.fill("a.json", "b.json")
    going = threading.Event()
    lab.sink.before = lambda _: going.wait(10)

    def second_ctrl_c(happening: Happening) -> None:
        if not isinstance(happening, Begun):
            raise KeyboardInterrupt

    lab.sink.parallel = 2
    threading.Timer(0.05, going.set).start()
    with pytest.raises(KeyboardInterrupt):
        lab.run(listener=second_ctrl_c)


def test_a_mistake_of_ours_is_not_hidden(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.fill("a.json")
    monkeypatch.setattr(lab.to, "keep", raising(AttributeError("a mistake")))
    with pytest.raises(AttributeError, match="a mistake"):
        lab.run()
    assert names(lab.spool) == ["a.json"]


# -- uploading and archiving apart


@pytest.fixture
def uploaded(lab: Lab) -> Callable[[], PublishResult]:
    """Upload a.json and b.json, and return what archives them."""
    lab.fill("a.json", "b.json", "other.json")
    files = [lab.spool / "a.json", lab.spool / "b.json"]
    confirmed = deliver(files, lab.sink, lab.to, archives=False).confirmed
    assert [one.name for one in confirmed] == ["a.json", "b.json"]
    assert names(lab.spool) == ["a.json", "b.json", "other.json"]
    marks = {one.name: one.mark for one in confirmed}
    return lambda: deliver(files, lab.sink, lab.to, confirmed=marks)


def test_what_was_published_by_another_meanwhile(
    lab: Lab, uploaded: Callable[[], PublishResult]
) -> None:
    publish(lab.spool, lab.sink, lab.to)
    kept = uploaded()
    assert kept.elsewhere == 2
    assert kept.is_clean
    assert names(lab.to.folder) == ["a.json", "b.json", "other.json"]


def test_what_was_replaced_between_the_two_is_not_archived_unconfirmed(
    lab: Lab, uploaded: Callable[[], PublishResult]
) -> None:
    write(lab.spool / ".new", "second").replace(lab.spool / "a.json")
    assert [left.name for left in uploaded().waiting] == ["a.json"]
    assert names(lab.to.folder) == ["b.json"]
