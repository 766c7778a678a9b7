"""What was published, through time: one entry of a test, run after run.

dates: how far to look back. query: from any sink's reader to series. series: what one says.
wording, plot: how it looks. document: all of it as JSON.
"""
