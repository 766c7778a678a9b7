"""Results as one HTML file that opens offline, prints, and is read back."""
