"""How a case is executed: stages, steps, resources at work, results on disk."""
