"""A small file of each format, as its tool writes it, by the format's name."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchyard.catalogue.formats.more_samples import MORE_SAMPLES
from tests.benchyard.traces.test_sources import SAMPLED, pprof, speedscope

PYTEST: dict[str, Any] = {
    "machine_info": {"node": "box", "python_implementation": "CPython", "python_version": "3.11"},
    "commit_info": {"id": "c0ffee", "time": None, "dirty": True, "project": "p", "branch": "main"},
    "benchmarks": [
        {
            "name": "test_sum[1]",
            "fullname": "test_b.py::test_sum[1]",
            "params": {"n": 1},
            "extra_info": {},
            "stats": {
                "min": 1e-6,
                "max": 4e-6,
                "mean": 2.1e-6,
                "stddev": 1e-7,
                "rounds": 3,
                "median": 2e-6,
                "data": [1e-6, 2e-6, 4e-6],
            },
        }
    ],
    "datetime": "2026-05-01T12:00:00.5+00:00",
    "version": "5.3.1",
}
HYPERFINE: dict[str, Any] = {
    "results": [
        {
            "command": "sleep {n}",
            "mean": 0.2,
            "stddev": None,
            "median": 0.2,
            "user": 0.001,
            "system": 0.002,
            "min": 0.1,
            "max": 0.3,
            "times": [0.1, 0.3],
            "memory_usage_byte": [4096, 8192],
            "exit_codes": [0, None],
            "parameters": {"n": "1"},
        }
    ]
}
_GOOGLE_RUN = {"run_name": "BM_a/8", "threads": 1, "time_unit": "us", "cpu_time": 12.0}
GOOGLE: dict[str, Any] = {
    "context": {
        "date": "2026-05-01T14:00:00+02:00",
        "host_name": "box",
        "num_cpus": 8,
        "mhz_per_cpu": 2600,
    },
    "benchmarks": [
        *(
            {
                "real_time": time,
                **_GOOGLE_RUN,
                "name": "BM_a/8",
                "run_type": "iteration",
                "bytes_per_second": 1.2e9,
                "hits": 3,
            }
            for time in (12.5, 13.5)
        ),
        {
            "real_time": 0.5,
            **_GOOGLE_RUN,
            "name": "BM_a/8_stddev",
            "run_type": "aggregate",
            "aggregate_name": "stddev",
        },
        {
            "real_time": 0,
            **_GOOGLE_RUN,
            "name": "BM_bad",
            "run_name": "BM_bad",
            "run_type": "iteration",
            "error_occurred": True,
            "error_message": "no <file>",
        },
    ],
}
PYPERF: dict[str, Any] = {
    "benchmarks": [
        {
            "runs": [
                {"metadata": {"calibrate_loops": 4}, "warmups": [[1, 8e-7]]},
                {"metadata": {}, "values": [9e-8, 8e-8], "warmups": [[4, 1e-7]]},
                {"metadata": {}, "values": [7e-8]},
            ]
        }
    ],
    "metadata": {"hostname": "box", "name": "timeit", "perf_version": "2.10.0", "unit": "second"},
    "version": "1.0",
}
_COLUMNS = "result params version started_at duration stats_ci_99_a stats_ci_99_b stats_q_25"
ASV: dict[str, Any] = {
    "commit_hash": "abcdef12",
    "env_name": "virtualenv-py3.11",
    "date": 1_600_000_000_000,
    "params": {"machine": "box", "cpu": "i7"},
    "result_columns": [*_COLUMNS.split(), "stats_q_75", "stats_number", "stats_repeat", "samples"],
    "results": {
        "b.Suite.time_it": [
            [0.001, None, float("nan"), 0.004],
            [["1", "2"], ["'a'", "'b'"]],
            "v",
            1_700_000_100_500,
            1.0,
            *[None] * 5,
            [2, None, None, 1],
            [[0.0005, 0.0015], None, None, [0.004]],
        ],
        "b.track_x": [[12.5], [], "v", 1_700_000_200_000],
        "b.mem_y": None,
    },
    "version": 2,
}
ASV_BENCHMARKS: dict[str, Any] = {
    "b.Suite.time_it": {"unit": "seconds", "param_names": ["n", "s"]},
    "b.track_x": {"unit": "widgets"},
    "version": 2,
}
BENCHER: dict[str, Any] = {
    "bench::a": {
        "latency": {"value": 1500.0, "lower_value": 1400.0},
        "own": {"value": 3},
    }
}
TESTRESULTS: dict[str, Any] = {
    "name": "//a:test",
    "target": "//a:test",
    "startTime": "1700000000",
    "entries": {
        "entry": [
            {
                "name": "BM_x",
                "iters": "3",
                "cpuTime": 0.5,
                "wallTime": 1.5,
                "extras": {"suspect": {"stringValue": "it swapped"}, "n": {"doubleValue": 2.0}},
                "metrics": [{"name": "gb_per_s", "value": 26.9}],
            },
            {"name": "BM_y", "wallTime": "NaN"},
        ]
    },
    "commitId": {"hash": "f00d"},
    "machineConfiguration": {"hostname": "box"},
    "runConfiguration": {"argument": ["--x"], "envVars": {"PASSWORD": "hunter2"}},
}
CHROME: list[dict[str, Any]] = [
    {"ph": "X", "name": "<b>load</b>", "ts": 0, "dur": 1000, "pid": 1, "tid": 1},
    {"ph": "X", "name": "parse", "ts": 100, "dur": 200, "pid": 1, "tid": 1},
    {"ph": "C", "name": "memory", "ts": 5, "pid": 1, "tid": 1, "args": {"used": 7}},
]
TIMING: dict[str, Any] = {
    "version": "0.1.0",
    "seed": 5,
    "rounds": 2,
    "stopped": "no more were asked for",
    "commands": [
        {
            "name": "a",
            "command": "true",
            "parameters": {},
            "executions": [
                {"wall_s": 0.1, "user_s": 0.0, "peak_rss_bytes": None, "exit_code": 0},
                {"wall_s": 0.3, "user_s": 0.0, "peak_rss_bytes": 900, "exit_code": 1},
            ],
        }
    ],
    "warnings": ["loud"],
}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


#: Of each format the path of a file and its content.
SAMPLES: Mapping[str, tuple[str, bytes]] = {
    "testresults": ("results/a.json", _json(TESTRESULTS)),
    "chrome-trace": ("traces/c.json.gz", gzip.compress(_json({"traceEvents": CHROME}))),
    "speedscope": ("traces/s.speedscope.json", speedscope(SAMPLED)),
    "pprof": ("traces/p.pb.gz", gzip.compress(pprof(((3, 1), (5, 2_000_000_000))))),
    "collapsed-stacks": ("traces/f.folded", b"main;load 2\nmain;sort 3\n"),
    "pytest-benchmark": ("bench/0001_c0ffee.json", _json(PYTEST)),
    "hyperfine": ("bench/hyperfine.json", _json(HYPERFINE)),
    "google-benchmark": ("bench/google.json", _json(GOOGLE)),
    "pyperf": ("bench/pyperf.json.gz", gzip.compress(_json(PYPERF))),
    "asv": ("asv/box/abcdef12-env.json", _json(ASV)),
    "bencher": ("bench/bencher.json", _json(BENCHER)),
    "benchyard-time": ("bench/time.json", _json(TIMING)),
    **MORE_SAMPLES,
}

#: Formats that the explorer does not look for.
UNLISTED = frozenset({"otava-csv"})
#: Those of JSON.
JSON_FORMATS = sorted(
    name for name, (path, _) in SAMPLES.items() if path.endswith((".json", ".json.gz"))
)


def write(folder: Path, name: str, content: bytes) -> Path:
    """Write a file and the folders above it."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def write_all(folder: Path) -> None:
    """Write a file of each format."""
    for name, content in SAMPLES.values():
        write(folder, name, content)
    write(folder, "asv/benchmarks.json", _json(ASV_BENCHMARKS))
