"""The explorer: results in a browser, read-only."""
