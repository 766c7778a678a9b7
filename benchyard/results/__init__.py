"""What runs yield and where it lies: folders, records, attempts, summaries, events."""
