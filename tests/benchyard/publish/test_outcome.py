"""What came of publishing, in words."""

from benchyard.publish.outcome import Left, PublishResult, Rejected, advice, problems

DOWN = "nobody is there"


def test_one_reason_for_all_is_told_once() -> None:
    waiting = (Left("a.json", DOWN), Left("b.json", DOWN), Left("c.json"))
    assert list(problems(PublishResult("local", waiting=waiting, error=DOWN))) == [f"local: {DOWN}"]


def test_whoever_did_not_come_to_publish_hears_which_command_does() -> None:
    left = (Left("a.json"), Left("results/run_1", "damaged"))
    [waits] = advice(PublishResult("datastore", waiting=left))
    assert "1 document waiting; 'benchyard publish --sink datastore' brings it" in waits
    [refused] = advice(PublishResult("local:x", rejected=(Rejected("a.json", "no"),) * 2))
    assert "2 documents rejected; 'benchyard publish --sink local:x --force'" in refused
    assert list(advice(PublishResult("local"))) == []
