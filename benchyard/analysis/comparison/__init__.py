"""Candidate against baseline: which runs, whether they are comparable, what differs."""
