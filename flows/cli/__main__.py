"""``python -m flows.cli``: the command line where no console script is installed."""

from flows.cli import main

main()
