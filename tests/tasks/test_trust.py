"""A folder full of traps: nothing of it is executed, whatever is started in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import trust
from tests.conftest import MakeCase, RunBenchyard, process
from tests.databases import put_database

_MODULES = ("json.py", "click/__init__.py", "sitecustomize.py", "prefect.py", "uvicorn/__init__.py")
_LOGGING = """
version: 1
formatters: {{}}
handlers:
  trap: {{"()": os.system, command: "touch {trap}.logging"}}
loggers:
  prefect: {{level: INFO, handlers: [trap]}}
"""


def set_traps(folder: Path, trap: Path) -> None:
    """Put into a folder what Python and Prefect would take from it; sprung, each leaves a file."""
    for name in _MODULES:
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"open({str(trap)!r} + '.{file.parts[-2]}-{file.name}', 'w')\n")
    logging = folder / "evil.yaml"
    logging.write_text(_LOGGING.format(trap=trap))
    profiles = folder / "profiles.toml"
    profiles.write_text(
        f'active = "a"\n[profiles.a]\nPREFECT_LOGGING_SETTINGS_PATH = "{logging}"\n'
    )
    (folder / ".env").write_text(
        f"PREFECT_LOGGING_SETTINGS_PATH={logging}\nPREFECT_PROFILES_PATH={profiles}\n"
    )
    toml = f'[logging]\nconfig_path = "{logging}"\n'
    (folder / "prefect.toml").write_text(toml)
    (folder / "pyproject.toml").write_text(toml.replace("[logging", "[tool.prefect.logging"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "command",
    [
        "run trapped --runs 1 --prefect",
        "run trapped --runs 1 --direct",
        "suite --runs 1",
        "validate trapped",
        "deploy",
        "worker",
    ],
)
def test_nothing_of_the_current_folder_is_executed(
    request: pytest.FixtureRequest,
    case_folder: MakeCase,
    run_benchyard: RunBenchyard,
    tmp_path: Path,
    command: str,
) -> None:
    """Of ``run`` a temporary server there takes its settings, too; ``suite`` uses a shared one."""
    case_folder("trapped", process("a", "true"))
    home, trap = tmp_path / "home", tmp_path / "traps" / "sprung"
    trap.parent.mkdir()
    put_database(home / "prefect.db")
    set_traps(tmp_path, trap)

    environment = os.environ | {"PREFECT_HOME": str(home)}
    if command.startswith("suite"):
        environment["PREFECT_API_URL"] = request.getfixturevalue("prefect_server")

    ended = run_benchyard(*command.split(), env=environment, timeout=600)

    assert list(trap.parent.iterdir()) == [], ended.stderr
    assert "Traceback" not in ended.stderr
    if command not in {"deploy", "worker"}:  # which have no server to speak to
        assert ended.returncode == 0, ended.stderr


def test_the_current_folder_may_say_which_server_and_paths_stay(tmp_path: Path) -> None:
    (tmp_path / "prefect.toml").write_text(
        '[api]\nurl = "http://here:1/api"\nkey = "k"\n[server.api]\nport = 77\n'
    )
    (tmp_path / ".env").write_text(
        "prefect_api_url='http://dotenv:1/api'\nPREFECT_SERVER_API_PORT=7\n"
    )
    program = (
        "import flows, prefect, os\n"
        "from prefect.settings import get_current_settings as now\n"
        "print(now().api.url, now().api.key.get_secret_value(), now().server.api.port)\n"
        "print(now().home, os.getcwd())\n"
    )
    environment = {**os.environ, "PREFECT_HOME": "home"}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={name: environment[name] for name in environment if name != "PREFECT_API_URL"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines() == [
        "http://dotenv:1/api k 4200",
        f"{tmp_path / 'home'} {tmp_path}",
    ]


def test_out_of_reach_and_back_even_from_a_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.delenv("PREFECT_HOME")
    gone.rmdir()

    with trust.out_of_reach():
        assert Path.cwd() == Path("/proc")

    assert str(Path("/proc/self/cwd").readlink()).startswith(str(gone))
