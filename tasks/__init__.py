"""Prefect's adapters: stages as task runs, states, events, pages, and whatever else it hears."""

from tasks.trust import import_prefect_warily

import_prefect_warily()
