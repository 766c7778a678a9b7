"""The curves of a run as a picture: what the host and the resources did, step by step."""
