"""How a server of ours writes: what task runs do in batches, not each state in a transaction.

SQLite takes one writer at a time, and a connection that has to wait sleeps up to 0.1 s between two
tries. With a transaction for each state of each task run, every request of a flow run meets one:
a case of a suite in place took 0.3 s longer (``benchmarks.suite``). A batch is written once a
second.
"""

_RECORDER = "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER"
SPARING = {f"{_RECORDER}_BATCH_SIZE": "100", f"{_RECORDER}_FLUSH_INTERVAL": "1"}
