"""Relations that Soufflé wrote, as RDF."""

from collections.abc import Sequence
from pathlib import Path


def write_rdf(relations: Sequence[Path], target: Path, *, graphs: bool) -> None:
    """Write relations of three or four columns as N-Triples or N-Quads, in their order.

    Each column holds a term as N-Triples writes it.

    Args:
        graphs: Whether the fourth column, the graph, is kept.
    """
    with target.open("wb") as whole:
        for relation in relations:
            with relation.open("rb") as lines:
                for line in lines:
                    terms = line.rstrip(b"\r\n").split(b"\t")
                    whole.write(b" ".join(terms if graphs else terms[:3]) + b" .\n")
