"""What is deployed, and nothing else."""

# Guards the import of Prefect.
import tasks  # noqa: F401 # pyright: ignore[reportUnusedImport]
