"""Whether this host can be measured on now, and whether it could be during a step."""
