"""What came of publishing, in words."""

import pytest

from benchyard.publish.outcome import Left, PublishResult, Rejected, advice, problems

DOWN = "nobody is there"


def test_one_reason_for_all_is_told_once() -> None:
    waiting = (Left("a.json", DOWN), Left("b.json", DOWN), Left("c.json"))
    assert list(problems(PublishResult("local", waiting=waiting, error=DOWN))) == [f"local: {DOWN}"]


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (PublishResult("local"), []),
        (
            PublishResult("datastore", waiting=(Left("a.json"), Left("results/run_1", "damaged"))),
            [
                "datastore: 1 document waiting; 'benchyard publish --sink datastore' brings it",
            ],
        ),
        (
            PublishResult("local:x", rejected=(Rejected("a.json", "no"), Rejected("b.json", "no"))),
            [
                "local:x: 2 documents rejected; 'benchyard publish --sink local:x --again' offers "
                "them once more",
            ],
        ),
    ],
    ids=str,
)
def test_whoever_did_not_come_to_publish_hears_which_command_does(
    outcome: PublishResult, told: list[str]
) -> None:
    assert list(advice(outcome)) == told
