"""What somebody set of a deployment, and what the file says now: put together."""

from benchyard.lab.api import Values, digests, merge

NIGHTLY = ("schedules", "nightly", "schedule")
ACTIVE = ("schedules", "nightly", "active")
RUNS, COOLDOWN = ("parameters", "runs"), ("parameters", "cooldown")
TAGS = ("tags",)


def of(cron: str = "0 1 * * *") -> Values:
    """Return values as a file has them."""
    return {RUNS: 3, TAGS: ["benchyard"], NIGHTLY: {"cron": cron}, ACTIVE: False}


def test_what_nobody_set_is_as_the_file_says() -> None:
    old, new = of(), {**of(cron="0 2 * * *"), RUNS: 5, COOLDOWN: 1}
    assert merge(old, digests(old), new) == merge(new, digests(new), new)


def test_a_deleted_schedule_stays_deleted_and_one_that_the_file_drops_goes() -> None:
    old = of()
    without = {path: value for path, value in old.items() if path[0] != "schedules"}
    assert merge(without, digests(old), of(cron="0 2 * * *")).values == without
    assert merge(old, digests(old), without).values == without


def test_a_schedule_of_which_somebody_set_a_part_stays_whole() -> None:
    old = of()
    without = {path: value for path, value in old.items() if path[0] != "schedules"}
    on: Values = {**old, ACTIVE: True}
    assert merge(on, digests(old), without).values == on


def test_where_nobody_knows_what_was_deployed_nothing_is_lost_and_what_is_new_comes() -> None:
    users: Values = {**of(), RUNS: 9}
    new: Values = {**of(), COOLDOWN: 1}
    merged = merge(users, None, new)
    assert merged.values == {**users, COOLDOWN: 1}
    assert merged.kept == ("parameter runs",)
