"""The subject of a case: its code, its inputs, and the versions that it uses."""
