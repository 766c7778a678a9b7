"""The explorer's pages, a module for each subject; each has a ``router``."""
