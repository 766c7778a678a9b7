"""Small files of services, databases' benchmarks and tools that run programs, by format."""

import json
from collections.abc import Mapping
from typing import Any

# Layout of benchmark-action/github-action-benchmark, dev/bench/data.js; cut down by hand.
_COMMITS: list[dict[str, Any]] = [
    {
        "commit": {
            "author": {"name": "rhysd", "username": "rhysd"},
            "id": f"{number}de6098",
            "message": f"change {number}\n\nat length",
            "timestamp": f"2024-03-12T07:45:0{number}+01:00",
            "url": "https://github.com/a/b/commit/1",
        },
        "date": 1_710_225_936_500 + 1000 * number,
        "tool": "cargo",
        "benches": [
            {"name": "fib_20", "value": 37_000 + number, "range": "± 755", "unit": "ns/iter"}
        ],
    }
    for number in (2, 1)
]
ACTION: dict[str, Any] = {
    "lastUpdate": 1_710_225_940_000,
    "repoUrl": "https://github.com/a/b",
    "entries": {
        "Rust": _COMMITS,
        "Memory": [
            {
                **_COMMITS[0],
                "date": 1_710_225_999_000,
                "tool": "customSmallerIsBetter",
                "benches": [
                    {"name": "peak", "value": "1,024", "unit": "KiB", "extra": "any"},
                    {"name": "load", "value": 50, "unit": "Percent"},
                ],
            }
        ],
    },
}
# Layout of the same repository's README.md, "customBiggerIsBetter"; made by hand.
CUSTOM: list[dict[str, Any]] = [
    {"name": "served", "value": 500, "unit": "ops/sec", "range": "3", "extra": "of 91 runs"},
    {"name": "broken", "value": None, "unit": "ms"},
]
# Layout of conbench/conbench, cmd/conbench/testdata/result_nullable.json; values by hand.
CONBENCH: dict[str, Any] = {
    "tags": {"name": "file-read", "dataset": "uniform"},
    "context": {"compiler": "gcc-13"},
    "info": {"benchmark_language": "C++"},
    "machine_info": {"name": "box", "os_name": "Linux", "cpu_model_name": "Demo CPU"},
    "github": {"commit": "c0ffee", "repository": "https://github.com/conbench/demo"},
    "run_id": "run-1",
    "batch_id": "batch-1",
    "run_reason": "nightly",
    "timestamp": "2024-01-02T12:00:00Z",
    "stats": {"data": [1.5e9, None, 2.5e9], "unit": "ns", "iterations": 3},
}
# Layout of ClickHouse/ClickBench, arc/results/20260511/t3a.small.json; three queries of 43.
CLICKBENCH: dict[str, Any] = {
    "system": "Arc",
    "date": "2026-05-11",
    "machine": "t3a.small",
    "cluster_size": 1,
    "proprietary": "no",
    "hardware": "cpu",
    "tuned": "no",
    "tags": ["Go", "column-oriented"],
    "load_time": 127,
    "data_size": 14779976446,
    "result": [[0.13, 0.002, 0.003], [0.449, None, 0.195], [None, None, None]],
}
# Layout of cmu-db/benchbase, results_postgres_tpcc/tpcc_2024-04-05_07-34-47.summary.json.
BENCHBASE: dict[str, Any] = {
    "Start timestamp (milliseconds)": 1712324027635,
    "Current Timestamp (milliseconds)": 1712324087887,
    "Elapsed Time (nanoseconds)": 60000005010,
    "DBMS Type": "POSTGRES",
    "DBMS Version": "PostgreSQL 12.18",
    "Benchmark Type": "tpcc",
    "Final State": "EXIT",
    "Measured Requests": 8620,
    "isolation": "TRANSACTION_SERIALIZABLE",
    "scalefactor": "1",
    "terminals": "1",
    "Latency Distribution": {
        "95th Percentile Latency (microseconds)": 12075,
        "Maximum Latency (microseconds)": 234208,
        "Median Latency (microseconds)": 5980,
        "Minimum Latency (microseconds)": 432,
        "Average Latency (microseconds)": 6943,
    },
    "Throughput (requests/second)": 143.666654670501,
    "Goodput (requests/second)": 143.016654724776,
}
# Recorded from ReBench 1.3 with the gauges RebenchLog and Time; heads shortened, commit by hand.
REBENCH = """\
#!/usr/bin/rebench -D t.conf
# Execution Start: 2026-11-29T14:41:57.710743+00:00
# Environment: {"userName":"u","hostName":"box","osType":"Linux","cpu":"AMD EPYC"}
# Source: {"repoURL":null,"branchOrTag":"main","commitId":"c0ffee","commitMsg":"one\\n\\ntwo"}
invocation	iteration	value	unit	criterion	benchmark	executor	suite	\
extraArgs	cores	inputSize	varValue	tag	machine	runId
# benchmark: 0={"name":"Bounce","command":"Bounce"}
# run_id: 0={"cmdline":"/bin/sh","location":"/bin","cores":1,"benchmark_id":0}
1	1	2.350000	ms	total	Bounce	sh	S		1					0
1	2	2.250000	ms	total	Bounce	sh	S		1					0
2	1	2.500000	ms	total	Bounce	sh	S		1					0
2	2	2.500000	ms	total	Bounce	sh	S		1					0
1	1	1628.000000	kb	MaxRSS	Nop	sh	T		1					1
1	1	0.000000	ms	total	Nop	sh	T		1					1
2	1	1548.000000	kb	MaxRSS	Nop	sh	T		1					1
2	1	0.000000	ms	total	Nop	sh	T		1					1
"""
# Recorded from BenchExec 3.35 with its tool "dummy"; the environment cut, the second status and
# the memory of the third (as version 1 wrote it) by hand.
BENCHEXEC = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE result
  PUBLIC '+//IDN sosy-lab.org//DTD BenchExec result 3.12//EN'
  'https://www.sosy-lab.org/benchexec/result-3.12.dtd'>
<result benchmarkname="be" date="2026-11-29 14:42:45 UTC" \
starttime="2026-11-29T14:42:45.500000+00:00" tool="DummyTool" version="2" \
toolmodule="benchexec.tools.dummy" generator="BenchExec 3.35" timelimit="10s" name="r.0">
  <columns><column title="status"/><column title="cputime"/></columns>
  <systeminfo hostname="box">
    <os name="Linux"/><cpu model="AMD EPYC" cores="2"/><ram size="25276514304B"/><environment/>
  </systeminfo>
  <run name="../a.c" files="[../a.c]" properties="unreach-call">
    <column title="cputime" value="0.002435253s"/>
    <column title="memory" value="1.5MB"/>
    <column title="status" value="true"/>
    <column title="walltime" value="0.024352915002964437s"/>
    <column title="blkio-read" value="0B" hidden="true"/>
    <column title="category" value="missing" hidden="true"/>
  </run>
  <run name="../b.c" files="[../b.c]">
    <column title="cputime" value="10.1s"/>
    <column title="status" value="TIMEOUT"/>
    <column title="walltime" value="10.2s"/>
  </run>
  <run name="../c.c" files="[../c.c]">
    <column title="status" value="false(reach)"/>
    <column title="memUsage" value="128032768"/>
    <column title="Config" value="none"/>
  </run>
  <column title="cputime" value="0.0037879999999999997s"/>
</result>
"""
# Layout of apache/otava, examples/csv/data/local_sample.csv; an attribute and values by hand.
OTAVA = """\
time,commit,metric1,metric2,branch
2026.01.02 3:00:00 +0100,1234567,138455,10.23,main
2026.01.01 3:00:00 +0100,aaa0,154023,,main
2026.01.03 3:00:00 +0100,aaa2,143112,10.29,main
"""


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


#: Of each format the path of a file and its content.
MORE_SAMPLES: Mapping[str, tuple[str, bytes]] = {
    "github-action-benchmark": (
        "bench/data.js",
        b"window.BENCHMARK_DATA = " + json.dumps(ACTION, indent=2).encode(),
    ),
    "github-action-custom": ("bench/custom.json", _json(CUSTOM)),
    "conbench": ("bench/conbench.json", _json(CONBENCH)),
    "clickbench": ("bench/clickbench.json", _json(CLICKBENCH)),
    "benchbase": ("bench/tpcc.summary.json", _json(BENCHBASE)),
    "rebench": ("bench/test.data", REBENCH.encode()),
    "benchexec": ("bench/be.results.xml", BENCHEXEC.encode()),
    "otava-csv": ("bench/otava.csv", OTAVA.encode()),
}
