"""What the classes share that make knowledge graphs from mappings."""
