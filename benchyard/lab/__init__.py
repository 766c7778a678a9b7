"""The lab that runs all the time: server, workers, and what keeps them alive."""

import tasks  # noqa: F401 - guards the import of Prefect
