"""The host that is measured on: its facts, checks of its fitness, its counters, its sampler."""
