"""The adopter: the launcher's parent, and that of every process whose own parent ended before it.

A daemon leaves its parent, its session and its labels behind (``setsid``, a double fork, ``env
-i``, an overwritten environment), but not its ancestors: as a child subreaper this process becomes
its parent, instead of the host's init. So its children are the launcher and all orphans of what
the lab started, and nobody else's; ``benchyard.process.orphans`` is how the lab looks at them.

It is a process of its own and not the launcher, for it would make that larger, and with it the
peaks of small children (see ``benchyard.process.launcher``); and orphans are never mixed up there
with the children whose account the lab wants. The kernel buries its children, so it sleeps as long
as the lab lives. When standard output, a socket to the lab, closes, then the lab is dead, or has
another launcher: then it kills all that descends from it, and ends. The guard does the same with
labels at that time; neither needs the other one.

Source: PR_SET_CHILD_SUBREAPER(2const), which execve(2) keeps; signal(7) on ignoring SIGCHLD.
"""

import ctypes
import marshal
import os
import signal
import socket
import time
from contextlib import suppress

from benchyard.process.labels import GRACE, OWNER, children_of, label_of, winds_up

_PR_SET_CHILD_SUBREAPER = 36
#: Seconds for who winds up by itself: more than the guard gives, who begins later on a busy host.
_GRACE = 2 * GRACE
#: Seconds after which is left alone what cannot be killed: another user's, or stuck in the kernel.
_LONGEST_SECONDS = 10.0
_PAUSE_SECONDS = 0.005


def main() -> None:
    """Adopt until the lab is dead, then kill what is left."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    lab = socket.socket(fileno=1)
    with suppress(OSError):
        lab.send(marshal.dumps((os.getpid(),)))
        lab.recv(1)
    # From here on the dead keep their pids until they are waited for: no kill hits a stranger.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _kill_all()
    os._exit(0)


def _kill_all() -> None:
    """Kill until there is no child: the children of one that is killed become children of this."""
    begun = time.monotonic()
    while _has_children() and (passed := time.monotonic() - begun) < _LONGEST_SECONDS:
        for pid in children_of(os.getpid()):
            if passed > _GRACE or not winds_up(label_of(pid, OWNER)):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True
