"""Thin Prefect tasks around the domain's functions: one module a stage, no other job."""
