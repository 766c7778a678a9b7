"""Benchyard measured against others and against the limit; see README.md beside this file."""
