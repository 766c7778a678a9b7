"""What the engine is asked for, word by word, and how it tells that containers ended."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from resources._containers.specification import (
    HealthCheck,
    Mount,
    Specification,
    describe_code,
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


def test_everything_that_can_be_asked_for() -> None:
    config: Any = engine_config(
        Specification(
            image="image",
            command=("a", "$b"),
            entrypoint=("c",),
            environment={"X": "y=z"},
            mounts=(Mount(Path("/h"), "/c", read_only=True),),
            volumes={"name": "/store"},
            ports={80: 0, 81: 8081},
            network="net",
            aliases=("Name",),
            cpus=1.5,
            cpuset="0-1",
            memory=1000,
            shm_size=64,
            ulimits={"nofile": (1, 2)},
            user="1:2",
            working_folder="/w",
            read_only=True,
            tmpfs={"/t": "size=1"},
            health=HealthCheck(("true",), 1.5, 2, 3),
            labels={"l": "m"},
        )
    )
    host = config["HostConfig"]
    assert (config["Cmd"], config["Entrypoint"]) == (["a", "$b"], ["c"])
    assert (config["Env"], config["User"], config["WorkingDir"]) == (["X=y=z"], "1:2", "/w")
    assert config["Healthcheck"] == {
        "Test": ["CMD", "true"],
        "Interval": 1_500_000_000,
        "Timeout": 2_000_000_000,
        "Retries": 3,
    }
    assert config["Hostname"] == "Name"
    assert config["NetworkingConfig"] == {"EndpointsConfig": {"net": {"Aliases": ["Name"]}}}
    assert (host["NanoCpus"], host["CpusetCpus"]) == (1_500_000_000, "0-1")
    assert (host["Memory"], host["MemorySwap"], host["ShmSize"]) == (1000, 1000, 64)
    assert host["Ulimits"] == [{"Name": "nofile", "Soft": 1, "Hard": 2}]
    assert (host["ReadonlyRootfs"], host["Tmpfs"]) == (True, {"/t": "size=1"})
    assert host["PortBindings"] == {
        "80/tcp": [{"HostIp": "127.0.0.1", "HostPort": ""}],
        "81/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8081"}],
    }
    assert host["Mounts"] == [
        {"Type": "bind", "Source": "/h", "Target": "/c", "ReadOnly": True},
        {
            "Type": "volume",
            "Source": "name",
            "Target": "/store",
            "VolumeOptions": {"Labels": {"l": "m"}},
        },
    ]


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
    assert str(code) in describe_code(code)
    assert ("signal" in describe_code(code)) == (129 <= code <= 192)
