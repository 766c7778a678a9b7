"""How a case is executed: its runs, steps and attempts, resources at work, results on disk."""
