"""What people look at: pages, curves, history, and the runs as Batch Shipyard shows them."""
