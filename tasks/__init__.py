"""Thin Prefect tasks around the domain's functions: one module a stage, no other job."""

from tasks.trust import import_prefect_warily

import_prefect_warily()
