"""Traces as people look at them: timelines, flame graphs, and a viewer in the browser."""
