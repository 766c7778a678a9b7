"""How a case is declared: reading, checking and loading metadata.json."""
