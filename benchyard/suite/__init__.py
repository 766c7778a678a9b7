"""Many cases together: which, in what order, where, within which budget, and what came of it."""
