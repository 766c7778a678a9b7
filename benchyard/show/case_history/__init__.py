"""The history of a case as its records tell it: groups of runs, and their picture."""
