"""Processes: children that are measured and surely ended, locks that end with their holder."""
