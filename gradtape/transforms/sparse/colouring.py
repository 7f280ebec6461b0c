"""Lines that can share a pass: greedy colours, each line the first that is free. A set of colours is one integer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gradtape.transforms.sparse.pattern import Indices, Rows


class ColouringPlan(NamedTuple):
    """How to compute the entries of a pattern: which lines go through in which pass, and where each entry comes out."""

    pattern: Rows
    mode: str
    colours: int
    colour: Indices  # of each column (forward) or row (reverse); -1 for those without entries
    passes: Indices  # for each entry, the pass that it is read from
    places: Indices  # for each entry, the element of that pass


def choose_colouring(pattern: Rows, symmetric: bool, forward: bool) -> ColouringPlan:
    """The cheaper way to compute the entries of `pattern`; `forward` says whether passes can go that way at all."""
    if symmetric:
        return _star_plan((pattern + pattern.T).tocsr(), forward)
    rows, columns = pattern.nonzero()
    if not forward:
        colour, count = _coloured(pattern)
        return ColouringPlan(pattern, "reverse", count, colour, colour[rows], columns)
    by_column = _coloured(pattern.T.tocsr())
    fewest_by_row = int(np.diff(pattern.T.tocsr().indptr).max(initial=0))
    if by_column[1] > fewest_by_row:
        by_row = _coloured(pattern)
        if by_row[1] < by_column[1]:
            return ColouringPlan(pattern, "reverse", by_row[1], by_row[0], by_row[0][rows], columns)
    return ColouringPlan(pattern, "forward", by_column[1], by_column[0], by_column[0][columns], rows)


def _orders(degrees: Indices) -> list[list[int]]:
    """The orders in which lines are tried: as they come, and those with many entries first."""
    filled = np.flatnonzero(degrees)
    return [filled.tolist(), filled[np.argsort(-degrees[filled], kind="stable")].tolist()]


def _coloured(lines: Rows) -> tuple[Indices, int]:
    """A colour for each row of `lines`, such that rows of one colour have no column in common; and how many."""
    degrees = np.diff(lines.indptr)
    orders = _orders(degrees)
    fewest = int(np.bincount(lines.indices, minlength=1).max())
    best: list[int] = []
    count = len(orders[0])
    if fewest == count:  # one column has them all
        best = (np.cumsum(degrees > 0) - 1).tolist()
    else:
        count += 1
        for order in orders:
            colour = _first_fit(lines, order)
            if max(colour, default=-1) + 1 < count:
                best, count = colour, max(colour, default=-1) + 1
            if count == fewest:
                break
    return np.where(degrees > 0, np.array(best, dtype=np.intp), -1), count


def _first_fit(lines: Rows, order: Iterable[int]) -> list[int]:
    starts, places = lines.indptr.tolist(), lines.indices.tolist()
    used = [0] * lines.shape[1]  # by column, the colours of the rows that have an entry there
    colour = [0] * lines.shape[0]
    for line in order:
        entries = places[starts[line] : starts[line + 1]]
        taken = 0
        for place in entries:
            taken |= used[place]
        free = ~taken & (taken + 1)
        for place in entries:
            used[place] |= free
        colour[line] = free.bit_length() - 1
    return colour


def _star_plan(pattern: Rows, forward: bool) -> ColouringPlan:
    """Colours for a symmetric pattern: neighbours differ, and no path of four vertices has only two colours.

    Then of two mirror images h_ij and h_ji, one is alone with its colour in its row, and is read there.
    """
    rows, columns = pattern.nonzero()
    degrees = np.diff(pattern.indptr)
    starts, places = pattern.indptr.tolist(), pattern.indices.tolist()
    neighbours = [[x for x in places[starts[v] : starts[v + 1]] if x != v] for v in range(pattern.shape[0])]
    found = [_star_colours(neighbours, order) for order in _orders(degrees)]
    colour = np.array(min(found, key=lambda colours: max(colours, default=-1)), dtype=np.intp)
    count = int(colour.max(initial=-1)) + 1
    groups = rows * count + colour[columns]
    alone = np.bincount(groups, minlength=pattern.shape[0] * count)[groups] == 1 if groups.size else groups == 1
    passes, places_read = np.where(alone, colour[columns], colour[rows]), np.where(alone, rows, columns)
    return ColouringPlan(pattern, "forward" if forward else "reverse", count, colour, passes, places_read)


def _star_colours(neighbours: list[list[int]], order: Iterable[int]) -> list[int]:
    colour = [-1] * len(neighbours)
    once = [0] * len(neighbours)  # by vertex, the colours of its neighbours
    twice = [0] * len(neighbours)  # those that several of them have: the vertex is the hub of a star
    hubs = [0] * len(neighbours)  # by vertex, the colours of the hubs whose stars it is a leaf of
    first: dict[tuple[int, int], int] = {}
    for v in order:
        taken = once[v]
        for w in neighbours[v]:
            if colour[w] >= 0:
                taken |= hubs[w]  # v - w - hub - leaf
                if twice[v] >> colour[w] & 1:
                    taken |= once[w]  # leaf - v - w - other
        bit = ~taken & (taken + 1)
        colour[v] = chosen = bit.bit_length() - 1
        for w in neighbours[v]:
            if colour[w] >= 0 and twice[v] >> colour[w] & 1:
                hubs[w] |= bit
            if not once[w] & bit:
                once[w] |= bit
                first[w, chosen] = v
                continue
            twice[w] |= bit
            if colour[w] >= 0:
                hubs[v] |= 1 << colour[w]
                hubs[first[w, chosen]] |= 1 << colour[w]
    return colour
