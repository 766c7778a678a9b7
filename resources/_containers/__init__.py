"""The base of resources in containers: the engine, and the life of one container."""
