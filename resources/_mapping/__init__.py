"""The base of engines that make knowledge graphs from mappings."""
