"""Performance events in Azure Tables, in the manner of Batch Shipyard.

sink, reader: publish, and read back. shipyard: Batch Shipyard's own form of a row.
credentials: where, and who may. client: Azure's library, and what its answers mean.
documents, rows: what waits as events, and an event as a row. writer: sending rows.
"""
