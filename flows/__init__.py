"""What is deployed, and nothing else."""

import tasks  # noqa: F401 # pyright: ignore[reportUnusedImport] - guards the import of Prefect
