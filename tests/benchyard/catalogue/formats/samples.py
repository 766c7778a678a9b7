"""A small file of each format, as its tool writes it, by the format's name."""

import gzip
import json
import marshal
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

#: Recorded, with fewer spaces: Go 1.19.8, ``go test -bench . -benchtime 20ms -count 3``.
GO = b"""\
--- FAIL: BenchmarkBad
    sums_test.go:10: no input
goos: linux
goarch: amd64
pkg: example.com/sums
cpu: AMD EPYC
BenchmarkJoin/n=10-2 \t 223178\t 110.5 ns/op\t 90.53 MB/s\t 10.00 parts/op\t 16 B/op\t 1 allocs/op
BenchmarkJoin/n=10-2 \t 299413\t 177.8 ns/op\t 56.23 MB/s\t 10.00 parts/op\t 16 B/op\t 1 allocs/op
BenchmarkJoin/n=10-2 \t 302010\t 168.5 ns/op\t 59.35 MB/s\t 10.00 parts/op\t 16 B/op\t 1 allocs/op
BenchmarkJoin/n=100-2 \t 20584\t 1128 ns/op\t 88.66 MB/s\t 100.0 parts/op\t 112 B/op\t 1 allocs/op
BenchmarkJoin/n=100-2 \t 20138\t 1316 ns/op\t 75.97 MB/s\t 100.0 parts/op\t 112 B/op\t 1 allocs/op
BenchmarkJoin/n=100-2 \t 18987\t 1159 ns/op\t 86.30 MB/s\t 100.0 parts/op\t 112 B/op\t 1 allocs/op
FAIL
exit status 1
"""

#: Of a public file, with fewer iterations of each fork: mariofusco/jmh-playground, jmh-result.json.
JMH: list[dict[str, Any]] = [
    {
        "jmhVersion": "1.37",
        "benchmark": "org.jmhplayground.infra.BranchPrediction.immutableSet",
        "mode": "avgt",
        "threads": 1,
        "forks": 2,
        "vmName": "OpenJDK 64-Bit Server VM",
        "vmVersion": "21+35-2513",
        "params": {"same": "false", "shuffle": "true"},
        "primaryMetric": {
            "score": 27.518365145995894,
            "scoreError": 2.9900179387994106,
            "scoreUnit": "ns/op",
            "rawData": [
                [26.67990477107118, 26.813523859241688, 26.659057254870827],
                [26.421016128570237, 32.963535678068794, 28.079673213968487],
            ],
        },
        "secondaryMetrics": {
            "asm": {"score": "NaN", "scoreError": "NaN", "scoreUnit": "---", "rawData": [[], []]}
        },
    }
]
#: Of BenchmarkDotNet's documentation, without some statistics: IntroExportJson, report-brief.
DOTNET: dict[str, Any] = {
    "Title": "IntroJsonExport",
    "HostEnvironmentInfo": {
        "BenchmarkDotNetVersion": "0.9.9.0",
        "OsVersion": "Microsoft Windows NT 6.2.9200.0",
        "ProcessorName": {"IsValueCreated": True, "Value": "Intel(R) Core(TM) i7-4702MQ"},
    },
    "Benchmarks": [
        {
            "ShortInfo": f"IntroJsonExport_{method}",
            "Namespace": "BenchmarkDotNet.Samples.Intro",
            "Type": "IntroJsonExport",
            "Method": method,
            "Parameters": "",
            "Statistics": {
                "N": 20,
                "Min": least,
                "Median": median,
                "Mean": mean,
                "Max": most,
                "Outliers": [],
                "StandardDeviation": deviation,
            },
        }
        for method, least, median, mean, most, deviation in (
            (
                "Sleep10",
                *(10265993.7209375, 10360382.6953125, 10362283.085796878, 10436008.3209375),
                45702.118369205156,
            ),
            (
                "Sleep20",
                *(20258672.37, 20362636.192500003, 20360791.931687497, 20422396.073125),
                47980.732317777525,
            ),
        )
    ],
}
#: Of a public file: lesomnus/catch2-compare, a report of Catch2 3.1 in its tests.
CATCH2 = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="test_build" rng-seed="3413175810" catch2-version="3.1.0">
  <TestCase name="Build Point Cloud" filename="/workspaces/hesai/tests/src/build.cpp" line="18">
    <BenchmarkResults name="Thor Implementation" samples="100" resamples="100000" iterations="1">
      <!-- All values in nano seconds -->
      <mean value="162750" lowerBound="149438" upperBound="187959" ci="0.95"/>
      <standardDeviation value="90465.3" lowerBound="54039.8" upperBound="143714" ci="0.95"/>
    </BenchmarkResults>
    <BenchmarkResults name="Hesai SDK" samples="100" resamples="100000" iterations="1">
      <!-- All values in nano seconds -->
      <mean value="1.85689e+06" lowerBound="1.83899e+06" upperBound="1.8798e+06" ci="0.95"/>
      <standardDeviation value="103265" lowerBound="84804.2" upperBound="129199" ci="0.95"/>
    </BenchmarkResults>
    <OverallResult success="true"/>
  </TestCase>
</Catch2TestRun>
"""
#: Of a public file, its first four samples: a comment in Azure.Sdk.Tools.PerfAutomation.
CRITERION: dict[str, Any] = {
    "sampling_mode": "Linear",
    "iters": [216428.0, 432856.0, 649284.0, 865712.0],
    "times": [89284700.0, 182949300.0, 279225800.0, 370553800.0],
}
#: Of a public file, with fewer metrics: gustiramadhan/Performance-test-using-k6, summary.json.
K6: dict[str, Any] = {
    "root_group": {"id": "d41d8cd9", "groups": [], "checks": [], "name": "", "path": ""},
    "options": {"summaryTrendStats": ["avg", "min", "med", "max", "p(95)"], "summaryTimeUnit": ""},
    "state": {"testRunDurationMs": 13438.506, "isStdOutTTY": True},
    "metrics": {
        "http_reqs": {
            "type": "counter",
            "contains": "default",
            "values": {"count": 45, "rate": 3.348586516983361},
        },
        "http_req_duration": {
            "type": "trend",
            "contains": "time",
            "values": {
                "max": 814.2146,
                "p(95)": 798.57732,
                "avg": 371.6463688888887,
                "min": 268.6624,
                "med": 303.5241,
            },
        },
        "data_sent": {
            "type": "counter",
            "contains": "data",
            "values": {"count": 9680, "rate": 720.3181663199763},
        },
        "http_req_failed": {
            "type": "rate",
            "contains": "default",
            "values": {"rate": 0, "passes": 0, "fails": 45},
        },
        "vus": {
            "type": "gauge",
            "contains": "default",
            "values": {"value": 5, "min": 5, "max": 5},
        },
    },
}
#: Recorded, without some statistics: vitest 3.2.7, ``vitest bench --run --outputJson``.
VITEST: dict[str, Any] = {
    "files": [
        {
            "filepath": "/home/user/sums/sum.bench.js",
            "groups": [
                {
                    "fullName": "sum.bench.js > sums",
                    "benchmarks": [
                        {
                            "name": "loop",
                            "rank": 1,
                            "rme": 176.79098063879627,
                            "samples": [],
                            "min": 0.0006710000000111904,
                            "max": 0.016675000000020646,
                            "hz": 206902.2593721161,
                            "mean": 0.004833200000012994,
                            "sd": 0.006882724910968505,
                            "sampleCount": 5,
                            "median": 0.0010220000000060736,
                        },
                        {
                            "name": "reduce",
                            "rank": 2,
                            "rme": 32.425429189616544,
                            "samples": [],
                            "min": 0.04305400000001214,
                            "max": 0.07313800000000015,
                            "hz": 20040.160481603987,
                            "mean": 0.04989980000000287,
                            "sd": 0.01303317055439518,
                            "sampleCount": 5,
                            "median": 0.04396499999998582,
                        },
                        {"name": "bad", "rank": 3, "rme": 0, "samples": []},
                    ],
                }
            ],
        }
    ]
}


_MAIN, _LOAD = ("prog.py", 1, "main"), ("prog.py", 5, "load")
CPROFILE: dict[Any, Any] = {
    _MAIN: (1, 1, 0.25, 1.0, {}),
    _LOAD: (2, 2, 0.75, 0.75, {_MAIN: (2, 2, 0.75, 0.75)}),
}
CPUPROFILE: dict[str, Any] = {
    "nodes": [
        {
            "id": number,
            "callFrame": {
                "functionName": name,
                "scriptId": "80",
                "url": url,
                "lineNumber": line,
                "columnNumber": 12,
            },
            "hitCount": 1,
            "children": children,
        }
        for number, name, url, line, children in [
            (1, "(root)", "", -1, [2, 4]),
            (2, "", "file:///a/p.js", 0, [3]),
            (3, "fib", "file:///a/p.js", 4, []),
            (4, "(program)", "", -1, []),
        ]
    ],
    "startTime": 45114037802,
    "endTime": 45114037912,
    "samples": [4, 3, 2, 3],
    "timeDeltas": [10, 20, 50, -20],
}
#: As Firefox' own tables of a thread (version 48), without the columns that nobody reads here.
FIREFOX: dict[str, Any] = {
    "meta": {
        "interval": 2,
        "startTime": 1_700_000_000_000,
        "version": 27,
        "preprocessedProfileVersion": 48,
    },
    "libs": [],
    "threads": [
        {
            "name": "GeckoMain",
            "processName": "Web Content",
            "pid": "7",
            "tid": 8,
            "samples": {
                "stack": [1, 1, None, 2],
                "time": [10, 12.1, 14, 30],
                "weight": None,
                "weightType": "samples",
                "length": 4,
            },
            "stackTable": {"frame": [0, 1, 2], "prefix": [None, 0, 0], "length": 3},
            "frameTable": {"func": [0, 1, 0], "line": [None, 3, None], "length": 3},
            "funcTable": {"name": [1, 0], "isJS": [False, True], "length": 2},
            "stringArray": ["run", "main"],
        }
    ],
}
# As perf 6.1 prints samples of -g, of a program without callers, and of a whole host.
PERF = b"""\
python3 26551 45112.876997:     250000 cpu-clock:ppp:\x20
\t           15c78 init_cpu_features.constprop.0+0x5e8 (/usr/lib/ld-linux-x86-64.so.2)
\t               0 [unknown] ([unknown])

V8 Worker 7/8 [001] 45112.877258:     250000 cpu-clock:ppp:\x20
\tffffffff8162fef3 do_syscall_64+0xc3 ([kernel.kallsyms])
\t           20ca3 std::map<int, char>::find(int)+0x13 (/usr/lib/libx.so (deleted))
\t            1234 [unknown] (/usr/bin/tool)

python3 26551 45112.877502:     500000 cpu-clock:ppp:      7fdd67b02152 main+0x75e2 (/a/python3)
python3 26551 45112.877502:          3 page-faults:      7fdd67b02152 main+0x75e2 (/a/python3)
"""
# As callgrind 3.19 writes it, with --dump-instr=yes and the events of --cache-sim=yes.
CALLGRIND = b"""\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 26611
cmd:  ./prog
part: 1

desc: I1 cache:\x20
desc: Trigger: Program termination

positions: instr line
events: Ir Dr
summary: 560 4


ob=(1) /a/prog
fl=(1) main.c
fn=(1) main
0x400 16 100 4
cfn=(2) work
calls=2 0x500 3
* * 360
+3 +1 40
jcnd=1/2 +2 +1
* *

fl=(1)
fn=(2)
0x500 3 60
fi=(2) inlined.h
+4 7 300
fe=(1)
cfn=(2)
calls=1 0x500 -4
* * 90

fn=(3) lost
+1 +1 60

totals: 560 4
"""


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


#: Of each format the path of a file and its content.
SAMPLES: Mapping[str, tuple[str, bytes]] = {
    "testresults": ("results/a.json", _json(TESTRESULTS)),
    "chrome-trace": ("traces/c.json.gz", gzip.compress(_json({"traceEvents": CHROME}))),
    "speedscope": ("traces/s.speedscope.json", speedscope(SAMPLED)),
    "pprof": ("traces/p.pb.gz", gzip.compress(pprof(((3, 1), (5, 2_000_000_000))))),
    "collapsed-stacks": ("traces/f.folded", b"main;load 2\nmain;sort 3\n"),
    "cprofile": ("traces/c.pstats", marshal.dumps(CPROFILE)),
    "v8-cpuprofile": ("traces/v.cpuprofile", _json(CPUPROFILE)),
    "firefox-profile": ("traces/x.json.gz", gzip.compress(_json(FIREFOX))),
    "perf-script": ("traces/out.perf", PERF),
    "callgrind": ("traces/callgrind.out.26611", CALLGRIND),
    "pytest-benchmark": ("bench/0001_c0ffee.json", _json(PYTEST)),
    "hyperfine": ("bench/hyperfine.json", _json(HYPERFINE)),
    "google-benchmark": ("bench/google.json", _json(GOOGLE)),
    "pyperf": ("bench/pyperf.json.gz", gzip.compress(_json(PYPERF))),
    "asv": ("asv/box/abcdef12-env.json", _json(ASV)),
    "bencher": ("bench/bencher.json", _json(BENCHER)),
    "benchyard-time": ("bench/time.json", _json(TIMING)),
    "go-benchmark": ("bench/go.txt", GO),
    "jmh": ("bench/jmh-result.json", _json(JMH)),
    "benchmarkdotnet": ("bench/IntroJsonExport-report-brief.json", _json(DOTNET)),
    "catch2": ("bench/catch2.xml", CATCH2),
    "criterion": ("target/criterion/sums/xor/1000/new/sample.json", _json(CRITERION)),
    "k6": ("bench/k6.json", _json(K6)),
    "vitest": ("bench/vitest.json", _json(VITEST)),
    **MORE_SAMPLES,
}

#: Formats that the explorer does not look for.
UNLISTED = frozenset({"go-benchmark", "otava-csv"})
#: Those of JSON.
JSON_FORMATS = sorted(
    name
    for name, (path, _) in SAMPLES.items()
    if path.endswith((".json", ".json.gz", ".cpuprofile"))
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
