"""What is shown in Prefect's UI: pages in Markdown, tables, and the keys that they are kept under.

Files store, the UI shows: every number here is in a file, too. Texts that come from cases, records
and commands are escaped, since the UI renders Markdown and raw HTML alike.
"""
