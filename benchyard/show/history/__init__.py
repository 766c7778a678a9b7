"""What was measured through time: published entries of a test, and the steps of a case.

series: the timings of an entry from any sink's reader, and where what was measured changed.
steps: a metric of a case's steps from the records, campaign by campaign.
report, plot: how both look.
"""
