"""The lab that runs all the time: server, workers, and what keeps them alive."""
