"""Which commit, or other version, made a command slower.

versions: what is searched, and what contains what. course: builds, measurements, and their file.
"""
