"""Differences of traces, and the profiles that steps of a run left."""
