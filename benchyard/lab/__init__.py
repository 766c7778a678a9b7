"""The lab that runs all the time: server, workers, and what keeps them alive."""

# Guards the import of Prefect.
import tasks  # noqa: F401 # pyright: ignore[reportUnusedImport]
