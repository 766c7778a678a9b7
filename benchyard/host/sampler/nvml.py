"""GPUs of NVIDIA through NVML; loaded by the sampling process, and only where there may be one.

It imports nothing of Benchyard. Nothing here needs a header: the structures are spelled out.
Source: NVML API Reference Guide, device queries; utilisation in %, memory in B, power in mW.
"""

import ctypes
from collections.abc import Callable, Iterator

#: What a reading of a GPU looks like; "?" is what the driver does not tell.
FORM = b"utilisation_percent %b\nmemory_bytes %b\npower_mw %b\n"
_NAME_BYTES = 96


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


def readers(library: str) -> Iterator[tuple[bytes, Callable[[int, int, int], bytes]]]:
    """Yield index and name of each GPU, blanks as ``_``, with what reads it in ``FORM``.

    Raises:
        OSError: If the library cannot be loaded or does not work.
    """
    nvml = ctypes.CDLL(library)
    _ask(nvml.nvmlInit_v2())
    count = ctypes.c_uint()
    _ask(nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)))
    for index in range(count.value):
        device, name = ctypes.c_void_p(), ctypes.create_string_buffer(_NAME_BYTES)
        _ask(nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)))
        nvml.nvmlDeviceGetName(device, name, _NAME_BYTES)
        yield b"%d_%b" % (index, b"_".join(name.value.split())), _reader(nvml, device)


def _reader(nvml: ctypes.CDLL, device: ctypes.c_void_p) -> Callable[[int, int, int], bytes]:
    utilisation, memory, power = _Utilisation(), _Memory(), ctypes.c_uint()
    questions = (
        (nvml.nvmlDeviceGetUtilizationRates, utilisation, lambda: utilisation.gpu),
        (nvml.nvmlDeviceGetMemoryInfo, memory, lambda: memory.used),
        (nvml.nvmlDeviceGetPowerUsage, power, lambda: power.value),
    )

    def read(_descriptor: int, _size: int, _offset: int) -> bytes:
        told = [
            b"?" if ask(device, ctypes.byref(answer)) else b"%d" % value()
            for ask, answer, value in questions
        ]
        return FORM % tuple(told)

    return read


def _ask(status: int) -> None:
    if status:
        raise OSError(f"NVML answers with error {status}")
