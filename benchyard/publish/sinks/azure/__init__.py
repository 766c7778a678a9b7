"""Performance events in Azure Tables, in the manner of Batch Shipyard.

sink, reader: publish, and read back. shipyard: Batch Shipyard's own form of a row.
credentials, configuration: who may, and where. rows, keys: an event as a row.
writing, answers: sending rows, and what comes back.
"""
