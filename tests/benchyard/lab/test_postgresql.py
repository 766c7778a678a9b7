"""A lab whose server keeps its data in a real PostgreSQL."""

import os
import pwd
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.benchyard.lab.labs import FINAL, add_case, make_shell
from tests.ports import free_port

pytestmark = [pytest.mark.long, pytest.mark.lab, pytest.mark.requires("postgresql")]


def programs() -> Path:
    """Return the folder of PostgreSQL's programs: Debian keeps them off the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return debian[-1] if debian else Path(str(shutil.which("initdb"))).resolve().parent


def unprivileged(folder: Path) -> Mapping[str, Any]:
    """Return who may run PostgreSQL, which refuses root; and give the folder to them."""
    if os.getuid():
        return {}
    account = pwd.getpwnam("postgres")
    os.chown(folder, account.pw_uid, account.pw_gid)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


@pytest.fixture(scope="module")
def database() -> Generator[str]:
    """Run a cluster in a folder of its own; give the address of a database for Prefect."""
    folder = Path(tempfile.mkdtemp())  # not pytest's, which only this user may enter
    who, port = unprivileged(folder), str(free_port())

    def call(program: str, *arguments: str) -> None:
        command = [programs() / program, *arguments]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, **who)

    data = str(folder / "data")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    call("initdb", "-D", data, "-U", "prefect", "-A", "trust", "--no-sync")
    call("pg_ctl", "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        call("createdb", "-h", str(folder), "-p", port, "-U", "prefect", "prefect")
        yield f"postgresql+asyncpg://prefect@127.0.0.1:{port}/prefect"
    finally:
        call("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)


def test_a_lab_on_postgresql_with_a_password_executes_and_keeps_what_it_did(
    tmp_path: Path, database: str
) -> None:
    password = {"PREFECT_SERVER_API_AUTH_STRING": "ana:secret"}
    shell = make_shell(tmp_path, BENCHYARD_DATABASE_URL=database, **password)
    case = add_case(shell.checkout, "quick", "echo hello")
    with shell.up() as lab:
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            urllib.request.urlopen(f"{lab.url}/deployments/count", b"{}")  # noqa: S310
        refused.value.close()
        flow_run = lab.start(case)
        assert lab.wait_for(flow_run, *FINAL) == "COMPLETED"
        lab.press()
        assert lab.process.wait(60) == 0, lab.said

    assert not (shell.home / "lab" / "prefect.db").exists()
    assert stored_state(database, flow_run) == "COMPLETED"
    assert shell.left() == []


def stored_state(database: str, flow_run: str) -> str:
    address = database.replace("+asyncpg", "")
    query = f"select state_type from flow_run where id = '{flow_run}'"  # noqa: S608 - our own id
    command = [programs() / "psql", address, "-At", "-c", query]
    return subprocess.check_output(command, text=True).strip()
