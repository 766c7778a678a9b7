"""The lab that runs all the time: server, workers, and what keeps them alive."""

import tasks  # noqa: F401 # pyright: ignore[reportUnusedImport] - guards the import of Prefect
