"""What a run measured: one document with one digest, made here and compared here.

Members of the document; what is not known is null or left out, and says of no difference:

case: ``hash`` of metadata.json and the inputs, and ``point`` of the matrix.
classes: class name of a resource to the digest of its code: its modules and what these import
  from beside them.
packages: distribution to version, of what the modules of a user's own class import.
versions: class name to ``version``, as the system tells it, and ``image``, the digest of its image.
programs: program of a step to the digest of its file.
repositories: what led to a repository (``program x``, ``package y``, ``repository z``) to the
  ``commit`` that is checked out, and ``changes``: "none", or the digest of what is not committed.
host: name of the host.
"""

from benchyard.subject.content import content_hash
from benchyard.subject.document import (
    Difference,
    Subject,
    about,
    commit_of,
    content_of,
    differences,
    digest_of,
    in_detail,
    in_words,
    subject_of,
)
from benchyard.subject.making import current_subject, remember_code, with_told

__all__ = [
    "Difference",
    "Subject",
    "about",
    "commit_of",
    "content_hash",
    "content_of",
    "current_subject",
    "differences",
    "digest_of",
    "in_detail",
    "in_words",
    "remember_code",
    "subject_of",
    "with_told",
]
