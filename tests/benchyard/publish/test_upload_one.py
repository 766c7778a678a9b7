"""Room for documents in memory."""

import threading

from benchyard.publish.compression import LARGEST, Compression
from benchyard.publish.upload_one import MemoryBudget, expected


def test_together_they_hold_no_more_than_there_is() -> None:
    room, held, most = MemoryBudget(10), 0, 0
    lock = threading.Lock()

    def take(wanted: int) -> None:
        nonlocal held, most
        with room.taken(wanted):
            with lock:
                held += wanted
                most = max(most, held)
            with lock:
                held -= wanted

    threads = [threading.Thread(target=take, args=(1 + number % 7,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most <= 10


def test_what_is_larger_than_all_of_it_gets_all_of_it() -> None:
    room = MemoryBudget(10)
    with room.taken(10**12):
        pass
    with room.taken(10):
        pass


def test_a_compressed_file_may_hold_a_hundred_times_its_size() -> None:
    assert expected(7, Compression.NONE) == 7
    assert expected(7, Compression.ZST) == 700
    assert LARGEST == 64 * 1024**2
