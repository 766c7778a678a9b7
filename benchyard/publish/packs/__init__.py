"""Packs: cases with inputs, classes and records in one file, to be measured again elsewhere."""
