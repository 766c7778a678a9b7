"""The local store: what was published, in one SQLite file of this host.

Views ``tests`` (test, start, info) and ``entries`` (test, entry, start, timing) have the meaning of
Datastore's kinds of these names, for everybody's SQLite. Below them

documents: each document once, whole, with its start in microseconds since 1970, UTC.
test_names, entry_names: each name once.
timings: one number for each entry of each document, in an order that makes both writing a document
  and reading one entry through time touch few pages (see ``store``).
"""
