"""The formats that the catalogue knows, each a module with a ``Format``."""
