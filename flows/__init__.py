"""The flows that ``prefect.yaml`` deploys, each in a module; their tasks are in ``tasks``."""

import tasks  # noqa: F401 # pyright: ignore[reportUnusedImport] - first: it imports Prefect warily
