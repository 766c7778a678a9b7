"""CPU time of process trees."""

# pyright: reportPrivateUsage=false

import os
import subprocess
import sys
import threading

import pytest

from benchyard.samplers import tree
from benchyard.samplers.tree import tree_cpu_s

BURN = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\n"
CHILD_ENDED = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}])\n"
CHILD_LIVES = (
    "import subprocess, sys, threading\n"
    f"code = {BURN!r} + 'print(flush=True); input()'\n"
    "def go():\n"
    "    p = subprocess.Popen([sys.executable, '-c', code], stdin=0, stdout=subprocess.PIPE)\n"
    "    p.stdout.readline(); done.set(); p.wait()\n"
    "done = threading.Event()\n"
    "threading.Thread(target=go).start(); done.wait()\n"
)


@pytest.mark.parametrize(
    "code", [BURN, CHILD_ENDED, CHILD_LIVES], ids=["itself", "ended child", "thread's child"]
)
def test_own_time_and_that_of_children_count(code: str) -> None:
    arguments = [sys.executable, "-c", code + "print(flush=True)\ninput()\n"]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as popen:
        assert popen.stdout is not None
        popen.stdout.readline()
        user, system = tree_cpu_s([popen.pid, popen.pid])
        assert user is not None
        assert system is not None
        assert user + system >= 0.15
        popen.communicate(b"\n\n", timeout=30)


def test_a_process_that_is_gone_is_unknown() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as popen:
        popen.wait(30)
    assert tree_cpu_s([os.getpid(), popen.pid]) == (None, None)


def test_a_kernel_without_lists_of_children_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    true_read = tree._read

    def read(path: str) -> bytes:
        if path.endswith("children"):
            raise FileNotFoundError(path)
        return true_read(path)

    monkeypatch.setattr(tree, "_read", read)
    assert tree_cpu_s([os.getpid()]) == (None, None)


def test_a_thread_that_ends_meanwhile_does_no_harm() -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()

    churner = threading.Thread(target=churn)
    churner.start()
    try:
        assert all(None not in tree_cpu_s([os.getpid()]) for _ in range(200))
    finally:
        stop.set()
        churner.join()
