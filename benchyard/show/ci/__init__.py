"""What continuous integration reads: JUnit XML, OpenMetrics, Markdown, annotations."""
