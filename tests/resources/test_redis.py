"""Redis: its container, and what its benchmark program is told and says."""

from collections.abc import Generator
from typing import Any

import pytest

from benchyard.case.resource import step_context
from benchyard.core.errors import CommandFailedError
from resources.redis import load_arguments, values
from tests.resources._databases.conftest import Database, running
from tests.resources.containers import refusal

real = pytest.mark.requires("docker", "image:redis")

SAID = (
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",'
    '"p99_latency_ms","max_latency_ms"\n'
    '"SET","25316.46","0.130","0.048","0.119","0.223","0.351","1.375"\n'
    '"LRANGE_100 (first 100 elements)","1818.18","11.0","10.9","11.0","11.0","11.0","12.0"\n'
)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: Any) -> Generator[Database]:
    with running("Redis", tmp_path_factory.mktemp("run"), maxmemory="8MB") as up:
        yield up


def test_the_load_becomes_arguments() -> None:
    numbers: dict[str, Any] = {"requests": 1000, "clients": 5, "data_size": 64, "pipeline": 4}
    assert load_arguments(("set", "lrange_100"), **numbers, keys=10, threads=2) == [
        "redis-benchmark", "-p", "6379", "--csv", "--precision", "6", "-n", "1000", "-c", "5",
        "-d", "64", "-P", "4", "-r", "10", "--threads", "2", "-t", "set,lrange_100",
    ]  # fmt: skip
    assert "-t" not in load_arguments((), **numbers, keys=None, threads=None)


@pytest.mark.parametrize("wrong", ["requests", "clients", "data_size", "pipeline", "keys"])
def test_a_number_below_one_is_refused(wrong: str) -> None:
    names = ("requests", "clients", "data_size", "pipeline", "keys", "threads")
    with pytest.raises(CommandFailedError, match=f"{wrong} is 0"):
        load_arguments((), **dict.fromkeys(names, 1) | {wrong: 0})


def test_what_the_program_says_becomes_seconds() -> None:
    found = values(SAID)
    assert found["set_requests_per_s"] == 25316.46
    assert found["set_latency_p99_s"] == pytest.approx(0.000351)
    assert found["lrange_100_latency_max_s"] == pytest.approx(0.012)


@pytest.mark.parametrize("said", ["", SAID.splitlines()[0], "WARNING: nothing\n"])
def test_an_output_without_a_test_is_an_error(said: str) -> None:
    with pytest.raises(CommandFailedError, match="no column 'test'"):
        values(said)


@real
@pytest.mark.slow
def test_a_load_is_measured(redis: Database) -> None:
    with step_context("02-load"):
        result = redis.load(2000, 4, 100, tests=["set", "get"], keys=100)
    assert result.values["set_requests_per_s"] > 0
    assert 0 < result.values["get_latency_p50_s"] < 10
    assert result.output == redis.workspace.kept / "02-load.csv"
    redis.load(200, 2, tests=["ping"], results_file="ping.csv")
    assert "PING" in redis.workspace.file("ping.csv").read_text()


@real
@pytest.mark.slow
def test_a_load_that_the_server_refuses_is_an_error(redis: Database) -> None:
    said = refusal(lambda: redis.load(2000, 4, 100_000, tests=["set"], keys=100_000))
    assert "maxmemory" in said
    redis.load(200, 2, tests=["ping"])
