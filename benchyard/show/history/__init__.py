"""What was published, through time: one entry of a test, run after run.

dates: how far to look back. reading: from any sink's reader to series. series: what one says.
sparkline, drawing: how it looks. document: all of it as JSON.
"""
