"""Traffic of network namespaces: of real ones, and between readings of two of them."""

import errno
import os

import pytest

from benchyard.host.counters import kernel
from benchyard.host.counters.kernel import Traffic, carried, read_network, why_unknown

LINE = b"eth0: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0\nlo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n"


def test_the_labs_own_namespace_is_nobodys_else() -> None:
    assert read_network(os.getpid()) == Traffic()
    assert read_network(None) == Traffic()
    assert why_unknown(Traffic(), Traffic()) == "it has no network namespace of its own"


def test_a_namespace_that_may_not_be_read_is_not_taken_for_the_labs_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(kernel, "_namespace", refuse)
    hidden = read_network(1)
    assert not hidden.name
    assert "may not be read" in why_unknown(Traffic(), hidden)


def test_a_process_that_ended_has_no_namespace_any_more() -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    assert "has ended" in why_unknown(Traffic(), read_network(pid))


def test_loopback_is_left_out_and_what_changed_is_not_known() -> None:
    start, end = Traffic("net:1", LINE % (10, 20)), Traffic("net:1", LINE % (15, 27))
    assert carried(start, end, began_inside=False) == (5, 7)
    assert carried(Traffic(), end, began_inside=True) == (15, 27)
    assert carried(Traffic(), end, began_inside=False) is None
    assert carried(end, start, began_inside=False) is None
    assert carried(start, Traffic(), began_inside=True) is None
    assert carried(start, end._replace(name="net:2"), began_inside=True) is None
    assert "changed" in why_unknown(Traffic(), end)
