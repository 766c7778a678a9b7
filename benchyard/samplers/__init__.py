"""What reads the counters of a run; each form implements ``benchyard.collector.Collector``."""
