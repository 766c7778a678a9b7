"""Numbers in, numbers out: what repeated measurements say, and what they cannot.

Every value is expected to be finite. Nothing is rounded, nothing is thrown away as an outlier.
Each formula names its source. What is named here is what is asked of one sample; the rest is in

comparison: two samples and a verdict, corrected for many comparisons.
ranks: the exact test and the shift that it stands on. pairs: the same of two values of each run.
intervals: of the median and of the mean. diagnostics: what is out of order.
sensitivity: how many runs a wanted change or precision takes; stopping early.
confirmation: whether a suspected change is real, and how many alarms a month may have.
advice: all this in words. measures, distributions: the formulas below.
"""

from benchyard.statistics.description import Description, describe
from benchyard.statistics.measures import mean, median, quantile, stdev

__all__ = ["Description", "describe", "mean", "median", "quantile", "stdev"]
