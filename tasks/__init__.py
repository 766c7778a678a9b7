"""Adapters to Prefect: tasks of the flows, final states, events, artifacts, parameters."""

from tasks.trust import import_prefect_warily

import_prefect_warily()
