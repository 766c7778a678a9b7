"""TensorFlow's TestResults documents: read, identified, and made from a run.

Source of the format: tensorflow/core/util/test_log.proto, as proto3-JSON.
"""

from benchyard.publish.testresults.convert import document_of, file_name, text_of, title
from benchyard.publish.testresults.document import BenchmarkEntry, Document, parse

__all__ = ["BenchmarkEntry", "Document", "document_of", "file_name", "parse", "text_of", "title"]
