"""What is deployed, and nothing else."""

import tasks  # noqa: F401 - guards the import of Prefect
