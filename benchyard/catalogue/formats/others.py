"""The formats of other programs' files, each recognised by its content."""

from benchyard.catalogue.formats.asv import ASV
from benchyard.catalogue.formats.bencher import BENCHER
from benchyard.catalogue.formats.benchmark_file import BenchmarkFile
from benchyard.catalogue.formats.google_benchmark import GOOGLE_BENCHMARK
from benchyard.catalogue.formats.hyperfine import HYPERFINE
from benchyard.catalogue.formats.pyperf import PYPERF
from benchyard.catalogue.formats.pytest_benchmark import PYTEST_BENCHMARK
from benchyard.catalogue.formats.testresults import TESTRESULTS, TestResultsFile
from benchyard.catalogue.formats.timing import TIMING
from benchyard.catalogue.formats.trace_file import (
    CHROME_TRACE,
    COLLAPSED,
    PPROF,
    SCANNER_JOB,
    SPEEDSCOPE,
    ScannerJob,
    TraceFile,
)

#: What ``benchyard.traces`` reads.
TRACES = (SCANNER_JOB, CHROME_TRACE, SPEEDSCOPE, PPROF, COLLAPSED)
BENCHMARKS = (PYTEST_BENCHMARK, HYPERFINE, GOOGLE_BENCHMARK, PYPERF, ASV, BENCHER, TIMING)
#: No file is of two of them.
OTHERS: tuple[TestResultsFile | ScannerJob | TraceFile | BenchmarkFile, ...] = (
    TESTRESULTS,
    *TRACES,
    *BENCHMARKS,
)
