"""What results there are below some folders: found, paged, searched, loaded."""
