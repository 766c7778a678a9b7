"""Traces: what ran when, on which track; read from many formats, counted, compared, written.

model: one trace in columns, between every reader and writer. nesting: slices that nest, each
track for itself, with parents, self times, paths and sums.
"""
