"""What a case may set on containers, checked before anything runs."""

from typing import Any

import pytest

from benchyard.core.errors import InputError
from resources._containers.settings import (
    ContainerSettings,
    heap_arguments,
    readiness,
    usable_memory,
)
from resources._readiness import asking, http_url, log_pattern, tcp_port
from resources.container import AnyContainerSettings


def test_letters_of_sizes_are_powers_of_1024() -> None:
    assert ContainerSettings(memory="1.5 GiB").memory_bytes == 1536 * 2**20


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"memory": "much"}, "memory: 'much' is no size"),
        ({"memory": "1MB"}, "6MB or more"),
        ({"shm_size": "-1"}, "shm_size: '-1'"),
        ({"tmpfs": {"/x": "big"}}, "tmpfs of '/x'"),
        ({"tmpfs": {"x": "1MB"}}, "'x' must be an absolute path"),
        ({"volumes": ["x"]}, "'x' must be an absolute path"),
        ({"cpus": 0}, "cpus is 0"),
        ({"ready_seconds": 0}, "ready_seconds"),
        ({"stop_seconds": -1}, "stop_seconds"),
        ({"ports": {"http": 80}}, "'http: 80'"),
        ({"ports": {"80": 70000}}, "'80: 70000'"),
        ({"ports": {"0": 1}}, "'0: 1'"),
        ({"memory": "x", "cpus": -1, "volumes": ["y"]}, "memory.*cpus.*absolute"),
        ({"image": ""}, "no image"),
        ({"ready": {"log": "("}}, "no regular expression"),
        ({"ready": {"http": "path"}}, "8080/health"),
        ({"health_check": {"interval": 1}}, "no 'command'"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], words: str) -> None:
    settings: dict[str, Any] = {"image": "x", **given}
    with pytest.raises(InputError, match=words):
        AnyContainerSettings(**settings)


def test_every_way_to_be_ready() -> None:
    ways = readiness({"log": "x", "tcp": 1, "http": ":80/a?b", "command": ["true"]})
    ports = [tcp_port(1), http_url(80, "/a?b")]
    assert ways == [log_pattern("x"), *ports, asking("'true' succeeds in it", bool)]
    assert readiness({"http": "80"}) == [http_url(80, "/")]
    assert readiness({"healthy": False}) == []


def test_java_gets_half_of_the_limit_or_of_the_host() -> None:
    assert heap_arguments(2 * 2**30) == ("-Xmx1073741824", "-Xms1073741824")
    assert heap_arguments(None) == heap_arguments(usable_memory(None))
    assert usable_memory(None) > 2**20
