"""Which end belongs to which start, for all nodes and images at once.

Where starts and ends of one image on one node take turns, as nearly always, each end belongs to
the start before it: two sorted columns laid side by side. All else goes, image by image, to
``matching``.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan

import numpy as np

from benchyard.show.shipyard.ledger import Booleans, Columns, Floats, Integers
from benchyard.show.shipyard.matching import End, match_one
from benchyard.show.shipyard.sizes import NO_SIZE
from benchyard.show.shipyard.spans import DIGITS, Span

#: Node and image in one number: more images than any pool has, and room for as many nodes.
_IMAGES = 1 << 31


@dataclass(frozen=True, slots=True)
class Moved:
    """What was done with images, ordered by node and time; every column has a value for each.

    Args:
        start: Seconds since 1970.
        length: Seconds; NaN for what is unfinished.
        size: Bytes; ``NO_SIZE`` where it was not told.
        superseded: Unfinished, and begun again later.
        strays: Node to number of its ends that have neither start nor length.
    """

    node: Integers
    image: Integers
    start: Floats
    length: Floats
    size: Integers
    superseded: Booleans
    strays: Counter[int] = field(default_factory=Counter[int])

    def part(self, first: int, last: int) -> "Moved":
        """Return what stands at some places; their columns are shared."""
        some = slice(first, last)
        return Moved(
            self.node[some],
            self.image[some],
            self.start[some],
            self.length[some],
            self.size[some],
            self.superseded[some],
        )


def join(starts: Columns, ends: Columns) -> Moved:
    """Return what was done, of its starts and its ends."""
    starts, ends = _ordered(starts), _ordered(ends)
    one, other, rest = _side_by_side(starts, ends)
    length, size = ends.length[other], ends.size[other]
    sure = Moved(
        starts.node[one],
        starts.image[one],
        starts.at[one],
        np.where(np.isnan(length), np.round(ends.at[other] - starts.at[one], DIGITS), length),
        np.where(size == NO_SIZE, starts.size[one], size),
        np.zeros(len(one), np.bool_),
    )
    return _by_time(_with_rest(sure, starts, ends, rest) if len(rest) else sure)


def _key(columns: Columns) -> Integers:
    return columns.node * _IMAGES + columns.image


def _ordered(columns: Columns) -> Columns:
    """Sort by node, image and time; of what two exports both hold, one goes."""
    key = _key(columns)
    # Mostly each key is there once; then this suffices, at a third of the cost.
    order = np.argsort(key)
    if bool(np.all(np.diff(key[order]))):
        return columns.chosen(order)
    order = np.lexsort((columns.at, key))
    key, at = key[order], columns.at[order]
    twice = np.flatnonzero((key[1:] == key[:-1]) & (at[1:] == at[:-1])) + 1
    if len(twice):
        length, size = columns.length[order], columns.size[order]
        before = twice - 1
        same = (size[twice] == size[before]) & (
            (length[twice] == length[before]) | np.isnan(length[twice]) & np.isnan(length[before])
        )
        order = np.delete(order, twice[same])
    return columns.chosen(order)


def _side_by_side(starts: Columns, ends: Columns) -> tuple[Integers, Integers, Integers]:
    """Return places of starts, the places of their ends, and the keys that are not so simple."""
    start_keys, end_keys = _key(starts), _key(ends)
    # Two sorted columns; numpy's own union1d hashes them, at four times the cost.
    keys = np.sort(np.concatenate((start_keys, end_keys)), kind="stable")
    keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
    of_start, of_end = np.searchsorted(keys, start_keys), np.searchsorted(keys, end_keys)
    counts = [np.bincount(of, minlength=len(keys)) for of in (of_start, of_end)]
    simple = counts[0] == counts[1]
    one, other = np.flatnonzero(simple[of_start]), np.flatnonzero(simple[of_end])
    begun, ended, group = starts.at[one], ends.at[other], of_start[one]
    wrong = begun > ended
    # An end comes before the next start of the same, too.
    wrong[:-1] |= (group[1:] == group[:-1]) & (ended[:-1] >= begun[1:])
    simple[group[wrong]] = False
    kept = simple[group]
    return one[kept], other[kept], keys[~simple]


def _with_rest(sure: Moved, starts: Columns, ends: Columns, keys: Integers) -> Moved:
    """Add what has to be matched one by one."""
    strays, sizes = Counter[int](), dict[int, int]()
    told = np.flatnonzero(starts.size != NO_SIZE)
    for key, size in zip(_key(starts)[told].tolist(), starts.size[told].tolist(), strict=True):
        sizes[key] = size
    rows = list[tuple[int, int, Span]]()
    for node, image, begun, ended in _groups(starts, ends, keys):
        spans, alone = match_one("", begun, ended)
        rows += [(node, image, span) for span in spans]
        strays[node] += alone
    return Moved(
        np.concatenate((sure.node, [node for node, _, _ in rows])).astype(np.int64),
        np.concatenate((sure.image, [image for _, image, _ in rows])).astype(np.int64),
        np.concatenate((sure.start, [span.start for _, _, span in rows])),
        np.concatenate((sure.length, [_number(span.duration) for _, _, span in rows])),
        np.concatenate(
            (
                sure.size,
                [_size(span, sizes.get(node * _IMAGES + image)) for node, image, span in rows],
            )
        ).astype(np.int64),
        np.concatenate((sure.superseded, [s.superseded for _, _, s in rows])).astype(np.bool_),
        strays,
    )


def _number(length: float | None) -> float:
    return np.nan if length is None else length


def _size(span: Span, told_at_start: int | None) -> int:
    size = told_at_start if span.size is None else span.size
    return NO_SIZE if size is None else size


def _groups(
    starts: Columns, ends: Columns, keys: Integers
) -> Iterator[tuple[int, int, list[float], list[End]]]:
    """Yield node and image of each key with its starts and ends."""
    start_keys, end_keys = _key(starts), _key(ends)
    bounds = [
        np.searchsorted(of, keys, side=side).tolist()
        for of in (start_keys, end_keys)
        for side in ("left", "right")
    ]
    for key, first, last, low, high in zip(keys.tolist(), *bounds, strict=True):
        some = slice(low, high)
        ended: list[End] = [
            (at, None if isnan(length) else length, None if size == NO_SIZE else size)
            for at, length, size in zip(
                ends.at[some].tolist(),
                ends.length[some].tolist(),
                ends.size[some].tolist(),
                strict=True,
            )
        ]
        yield key // _IMAGES, key % _IMAGES, starts.at[first:last].tolist(), ended


def _by_time(moved: Moved) -> Moved:
    order = np.argsort(moved.start)
    node = moved.node[order]
    if len(node) and int(node.max()) <= np.iinfo(np.uint16).max:
        node = node.astype(np.uint16)  # which are sorted by their digits, in linear time
    order = order[np.argsort(node, kind="stable")]
    return Moved(
        moved.node[order],
        moved.image[order],
        moved.start[order],
        moved.length[order],
        moved.size[order],
        moved.superseded[order],
        moved.strays,
    )
