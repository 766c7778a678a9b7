"""``python -m benchyard.cli``: the command line where no console script is installed."""

from benchyard.cli import main

main()
