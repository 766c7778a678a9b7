"""MindSpore's summary files: their framing, messages and folders, and what is in explain jobs."""
