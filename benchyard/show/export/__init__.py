"""Results for other programs: tidy rows, summarized rows, and tables for papers."""
