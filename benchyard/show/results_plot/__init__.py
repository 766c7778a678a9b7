"""Pictures of results: medians with intervals, single runs, ratios, distributions."""
