"""What the engine is asked for, word by word, and how it tells that containers ended."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from resources._containers import (
    Specification,
    engine_config,
    exit_of,
)


def test_the_least_that_a_container_needs() -> None:
    config: Any = engine_config(Specification("image"))
    host = config.pop("HostConfig")
    assert config == {
        "Image": "image",
        "Env": [],
        "ExposedPorts": {},
        "Labels": {},
        "AttachStdout": True,
        "AttachStderr": True,
    }
    assert host["LogConfig"] == {"Type": "none", "Config": {}}
    assert "Memory" not in host
    assert "NetworkMode" not in host


def test_the_network_of_none_knows_no_aliases() -> None:
    config: Any = engine_config(Specification("image", network="none"))
    assert config["NetworkingConfig"] == {"EndpointsConfig": {"none": {}}}


def state(**more: Any) -> dict[str, Any]:
    return {
        "ExitCode": 0,
        "OOMKilled": False,
        "Error": "",
        **more,
    }


def test_ends_are_told_apart() -> None:
    assert exit_of(state(ExitCode=3)).describe() == "exit code 3"
    assert "out of memory" in exit_of(state(ExitCode=137, OOMKilled=True)).describe()
    assert exit_of(state(ExitCode=137)).describe() == "exit code 137 (signal 9)"
    assert exit_of(state(ExitCode=127, Error="no such program")).describe() == "no such program"


@given(st.integers(0, 255))
def test_every_code_is_told(code: int) -> None:
    said = exit_of(state(ExitCode=code)).describe()
    assert str(code) in said
    assert ("signal" in said) == (129 <= code <= 192)
