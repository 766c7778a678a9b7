"""A lab that is not root, and may use the engine all the same."""

import os

import pytest

from tests.resources.containers import NOTHING, folder_of, left_of, run_python

pytestmark = [
    pytest.mark.slow,
    pytest.mark.requires("docker"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else"),
    pytest.mark.skipif(bool(os.environ.get("DOCKER_HOST")), reason="the engine is elsewhere"),
]

NOBODY = 65534
#: Becomes nobody, in the group that the engine's socket is for, when all is imported.
SCRIPT = """
import os, sys
from pathlib import Path
import docker, requests, urllib3
from tests.resources.containers import container_in, shell, workspace_in
os.setgroups([os.stat("/var/run/docker.sock").st_gid])
os.setgid(65534)
os.setuid(65534)
space = workspace_in(Path(sys.argv[1]))
with container_in(space, memory="64MB") as made:
    print(len(made.cgroups()))
    made.run_to_end(shell("umask 077; mkdir /data/shared/d; echo x > /data/shared/d/f"))
    made.execute(shell("touch /data/shared/g"))
    if "abort" in sys.argv:
        made.abort()
print((space.shared / "d/f").read_text().strip(), os.stat(space.shared / "g").st_uid)
(space.shared / "d/f").unlink()
(space.shared / "d").rmdir()
"""


@pytest.mark.parametrize("how", ["well", "abort"])
def test_files_that_containers_made_as_root_are_given_back(how: str) -> None:
    with folder_of(NOBODY) as folder:
        # The interpreter may be closed to nobody: what is imported is imported before.
        said = run_python("-c", SCRIPT, str(folder), how, timeout=120)
        # That of the container may be read.
        assert said == f"1\nx {NOBODY}\n"
        assert left_of(folder) == NOTHING
