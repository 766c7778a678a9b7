"""What results say together: comparisons, regressions, failures."""
