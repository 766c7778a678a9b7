"""How long nodes took to be ready, and what they spent it on: from performance events."""
