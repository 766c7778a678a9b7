"""What is deployed, and the command line."""
