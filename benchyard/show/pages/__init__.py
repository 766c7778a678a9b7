"""What is shown in Prefect's UI: pages in Markdown, tables, and the keys that they are kept under.

Files store, the UI shows: every number here is in a file, too. Texts that come from cases, records
and commands are escaped, since the UI renders Markdown and raw HTML alike.
"""

from benchyard.core.wording import cell
from benchyard.show.pages.result import embedded, key_of, result_page, suite_table
from benchyard.show.pages.retries import Board, board_of, merged, retries_page

__all__ = [
    "Board",
    "board_of",
    "cell",
    "embedded",
    "key_of",
    "merged",
    "result_page",
    "retries_page",
    "suite_table",
]
