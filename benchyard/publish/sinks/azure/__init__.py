"""Performance events in Azure Tables, in the manner of Batch Shipyard.

sink, reader: publish, and read back. shipyard: Batch Shipyard's own form of a row.
credentials: where the table is, and the key. client: Azure's library, what its errors mean,
and the table that is written to. rows: an event as a row.
"""
