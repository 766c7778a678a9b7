"""What resources that are containers stand on: the engine, and one container from birth to end."""
