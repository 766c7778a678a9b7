"""GPUs, with a library of NVML's functions compiled on the spot."""

import subprocess
from pathlib import Path

import pytest

from benchyard.host.sampler import NVML_VARIABLE, nvml, start_sampler
from benchyard.host.sampler.raw import Opened, RawNote, Tick, read_raw

SOURCE = """
#include <stdio.h>
static int devices[2];
int nvmlInit_v2(void) { return INIT; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &devices[index]; return 0;
}
int nvmlDeviceGetName(void *device, char *name, unsigned size) {
    snprintf(name, size, "NVIDIA T%d", (int)((int *)device - devices)); return 0;
}
int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates) {
    rates[0] = 35; rates[1] = 1; return 0;
}
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory) {
    memory[0] = 1ull << 34; memory[1] = 1; memory[2] = 5000000000ull; return 0;
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    *milliwatts = 70123; return device == &devices[1] ? 3 : 0;
}
"""


def library(folder: Path, init: int = 0) -> Path:
    source, made = folder / "nvml.c", folder / "libnvml.so"
    source.write_text(SOURCE)
    arguments = ["-shared", "-fPIC", f"-DINIT={init}", "-o", str(made), str(source)]
    subprocess.run(["cc", *arguments], check=True)  # noqa: S607
    return made


@pytest.mark.requires("cc")
def test_each_gpu_is_read_and_a_driver_that_does_not_work_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NVML_VARIABLE, str(library(tmp_path)))
    start_sampler(tmp_path / "raw", 10, []).end()
    records = list(read_raw(tmp_path / "raw"))
    assert [r.name for r in records if isinstance(r, Opened)] == ["0_NVIDIA_T0", "1_NVIDIA_T1"]
    changed = next(r.changed for r in records if isinstance(r, Tick))
    figures = [nvml.FORM % (b"35", b"5000000000", power) for power in (b"70123", b"?")]
    assert changed == [*enumerate(figures)]
    (tmp_path / "broken").mkdir()
    with pytest.raises(OSError, match="NVML answers with error 9"):
        list(nvml.readers(str(library(tmp_path / "broken", init=9))))


def test_without_the_library_sampling_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NVML_VARIABLE, str(tmp_path / "none.so"))
    account = start_sampler(tmp_path / "raw", 10, []).end()
    assert account.error is None
    assert sum(isinstance(r, Tick) for r in read_raw(tmp_path / "raw")) == 2
    (note,) = (r.text for r in read_raw(tmp_path / "raw") if isinstance(r, RawNote))
    assert "none.so" in note
