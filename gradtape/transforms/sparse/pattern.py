"""Which elements of a result depend on which elements of a source: one row of booleans for each element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradtape.core.graph import Node
from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.core.tensor import Tensor
from gradtape.errors import ShapeError

Indices = np.ndarray[Any, np.dtype[np.intp]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Rows = Any  # scipy.sparse.csr_array of booleans; scipy is imported when first needed

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_ENTRIES = 1 << 26  # of one operation's pattern, before it is replaced by a coarser one that needs no list


def nodes_behind(output: Any, bit: int) -> list[Node]:
    """The recorded nodes from the source to the output, parents first."""
    reached: dict[Node, None] = {}
    pending = [output._node] if isinstance(output, Tensor) and output._node.bits & bit else []
    while pending:
        node = pending.pop()
        if node not in reached:
            reached[node] = None
            pending.extend(parent for parent in node.parents if parent.bits & bit)
    return sorted(reached, key=lambda node: node.order)


def can_push(nodes: Iterable[Node]) -> bool:
    """Whether tangents can be pushed through: every operation has a forward rule, or picks one of several results."""
    return all(node.op is None or node.op.part is not None or node.op.forward is not None for node in nodes)


def detect_pattern(nodes: list[Node], source: Tensor, output: Any) -> Rows:
    """Which elements of the source each element of the output depends on."""
    from scipy import sparse

    if not nodes:
        return sparse.csr_array((int(np.size(output)), source.size), dtype=bool)
    uses = Counter(parent for node in nodes for parent in node.parents)
    rows: dict[Node, Rows] = {source._node: sparse.eye_array(source.size, dtype=bool, format="csr")}
    with np.errstate(all="ignore"):
        for node in nodes:
            if node in rows:
                continue
            total: Rows = None
            for position, parent in enumerate(node.parents):
                if parent in rows:
                    part = _through(node, position, rows)
                    total = part if total is None or total is part else total + part
            rows[node] = total
            for parent in node.parents:
                uses[parent] -= 1
                if not uses[parent]:
                    rows.pop(parent, None)
    return rows[output._node]


def _through(node: Node, position: int, rows: dict[Node, Rows]) -> Rows:
    """What the elements of `node` depend on by way of one of its parents."""
    op, parent = node.op, node.parents[position]
    assert op is not None
    if TABLE.get(op.name) is not op or 0 in node.shape or 0 in parent.shape:
        return _along(rows[parent], parent.shape, node.shape, [])
    if op.kind == "elementwise":
        return _elementwise(node, position, rows)
    if op.name in ("matmul", "einsum"):
        return _contraction(node, position, rows)
    return _asked(node, position, rows[parent])


def _along(rows: Rows, shape: Shape, out_shape: Shape, pairs: Sequence[tuple[int, int]]) -> Rows:
    """The rows of a result whose elements depend on all elements with the same index along the paired axes."""
    from scipy import sparse

    count, groups, out_groups = 1, np.zeros(shape, np.intp), np.zeros(out_shape, np.intp)
    for axis, out_axis in pairs:
        groups = groups * shape[axis] + _along_axis(shape, axis)
        out_groups = out_groups * shape[axis] + _along_axis(out_shape, out_axis)
        count *= shape[axis]
    members = np.ones(groups.size, bool), (groups.ravel(), np.arange(groups.size))
    united = sparse.csr_array(members, shape=(count, groups.size)) @ rows
    return united[out_groups.ravel()]


def _along_axis(shape: Shape, axis: int) -> Indices:
    """The index along `axis` of every element."""
    lengths = [1] * len(shape)
    lengths[axis] = shape[axis]
    return np.broadcast_to(np.arange(shape[axis]).reshape(lengths), shape)


def _picked(rows: Rows, of: Indices, at: Indices, size: int) -> Rows:
    """`size` rows: at each place in `at` those in `of`, joined; the others empty."""
    from scipy import sparse

    return sparse.csr_array((np.ones(at.size, bool), (at, of)), shape=(size, rows.shape[0])) @ rows


def _support(node: Node, position: int, rows: dict[Node, Rows]) -> Flags:
    """Where an input of `node` is not zero, or may become so because it depends on the source."""
    _, inputs = node.values(None)
    support: Flags = np.asarray(inputs[position]) != 0
    parent = node.parents[position]
    if parent in rows:
        support = support | (np.diff(rows[parent].indptr) > 0).reshape(support.shape)
    return support


def _elementwise(node: Node, position: int, rows: dict[Node, Rows]) -> Rows:
    parent = node.parents[position]
    own = rows[parent]
    index = None
    if parent.shape != node.shape:
        elements = np.arange(own.shape[0]).reshape(parent.shape)
        index = np.broadcast_to(elements, node.shape).ravel()
    if node.op is TABLE["multiply"]:
        factor = np.broadcast_to(_support(node, 1 - position, rows), node.shape).ravel()
        if not factor.all():
            at = np.flatnonzero(factor)
            return _picked(own, at if index is None else index[at], at, factor.size)
    return own if index is None else own[index]


# matmul and einsum, one letter an axis: which elements of an operand meet which of the result


def _subscripts(node: Node, ranks: Sequence[int]) -> tuple[list[str], str]:
    assert node.op is not None
    if node.op.name == "einsum":
        terms, result = node.params["subscripts"].split("->")
        return terms.split(","), result
    batch = LETTERS[: max(*ranks, 2) - 2]
    left, right = (batch[len(batch) - (rank - 2) :] if rank > 1 else "" for rank in ranks)
    row, column = ("X" if ranks[0] > 1 else ""), ("Z" if ranks[1] > 1 else "")
    return [left + row + "Y", right + "Y" + column], batch + row + column


def _contraction(node: Node, position: int, rows: dict[Node, Rows]) -> Rows:
    parent = node.parents[position]
    others = [i for i in range(len(node.parents)) if i != position]
    supports = {i: _support(node, i, rows) for i in others}
    shapes = [parent.shape if i == position else supports[i].shape for i in range(len(node.parents))]
    terms, result = _subscripts(node, [len(shape) for shape in shapes])
    own = terms[position]
    lengths: dict[str, int] = {}
    for term, shape in zip([*terms, result], [*shapes, node.shape], strict=True):
        for letter, length in zip(term, shape, strict=True):
            lengths[letter] = max(length, lengths.get(letter, 1))
    fixed = [letter for letter in dict.fromkeys("".join(terms[i] for i in others)) if letter in own + result]
    if not all(support.all() for support in supports.values()):
        entries = _entries(terms, result, position, supports, shapes, node.shape, lengths, fixed)
        if entries is not None:
            return _picked(rows[parent], entries[1], entries[0], int(np.prod(node.shape)))
    shared = [letter for letter in own if letter in result and parent.shape[own.index(letter)] == lengths[letter]]
    pairs = [(own.index(letter), result.index(letter)) for letter in dict.fromkeys(shared)]
    return _along(rows[parent], parent.shape, node.shape, pairs)


def _entries(
    terms: list[str],
    result: str,
    position: int,
    supports: dict[int, Flags],
    shapes: list[Shape],
    out_shape: Shape,
    lengths: dict[str, int],
    fixed: list[str],
) -> tuple[Indices, Indices] | None:
    """The pairs (element of the result, element of the operand) that meet where no other operand is zero."""
    others = ",".join(terms[i] for i in supports)
    meeting = np.einsum(f"{others}->{''.join(fixed)}", *(s.astype(float) for s in supports.values()), optimize=True)
    where = np.nonzero(np.broadcast_to(meeting, [lengths[letter] for letter in fixed]))
    free = [letter for letter in dict.fromkeys(terms[position] + result) if letter not in fixed]
    combinations = int(np.prod([lengths[letter] for letter in free]))
    count = where[0].size if fixed else int(bool(meeting))
    if count * combinations > MOST_ENTRIES:
        return None
    places = dict(zip(fixed, where, strict=True))
    steps = dict(
        zip(free, np.indices([lengths[letter] for letter in free]).reshape(len(free), combinations), strict=True)
    )

    def numbered(term: str, shape: Shape) -> Indices:
        total = np.zeros((count, combinations), np.intp)
        stride = 1
        for letter, length in zip(reversed(term), reversed(shape), strict=True):
            if length > 1:
                total += stride * (places[letter][:, None] if letter in places else steps[letter][None, :])
            stride *= length
        return total.ravel()

    return numbered(result, out_shape), numbered(terms[position], shapes[position])


# every other operation: infinities sent through its derivative mark what they touch


def _asked(node: Node, position: int, rows: Rows) -> Rows:
    """The structure of an operation, as its own rules show it: exact where an element has one origin or one use."""
    parent = node.parents[position]
    size, own_size = int(np.prod(node.shape)), rows.shape[0]
    try:
        origins = _only_partner(lambda flags: _pushed(node, position, flags), own_size)
        if origins is not None:
            at = np.flatnonzero(origins >= 0)
            if at.size == size and size == own_size and np.array_equal(origins, np.arange(size)):
                return rows
            return _picked(rows, origins[at], at, size)
        uses = _only_partner(lambda flags: _pulled(node, position, flags), size)
        if uses is not None:
            of = np.flatnonzero(uses >= 0)
            return _picked(rows, of, uses[of], size)
        pairs = _kept_apart(node, position)
    except Exception:  # a rule that refuses infinities tells nothing about its structure
        pairs = []
    return _along(rows, parent.shape, node.shape, pairs)


def _only_partner(touched: Callable[[Flags], Flags], size: int) -> Indices | None:
    """For each element on the other side the only one here that touches it, -1 for none; None if some have several.

    Two questions for each binary digit of an element's number: an element touched by both answers has several origins.
    """
    numbers = np.arange(size)
    origin: Any = 0
    reached: Any = False
    for digit in range(max(1, (size - 1).bit_length())):
        high = (numbers >> digit & 1).astype(bool)
        ones, zeros = touched(high), touched(~high)
        if (ones & zeros).any():
            return None
        origin = origin | ones.astype(np.intp) << digit
        reached = reached | ones | zeros
    return np.where(reached, origin, -1)


def _kept_apart(node: Node, position: int) -> list[tuple[int, int]]:
    """Pairs of axes along which an element depends only on those with the same index."""
    shape, out_shape = node.parents[position].shape, node.shape
    pairs: list[tuple[int, int]] = []
    for axis, length in enumerate(shape):
        left = [b for b in range(len(out_shape)) if out_shape[b] == length > 1 and b not in [pair[1] for pair in pairs]]
        left.sort(key=lambda b: (b != axis, b))
        index = _along_axis(shape, axis).ravel()
        out_index = {b: _along_axis(out_shape, b).ravel() for b in left}
        for digit in range((length - 1).bit_length() if left else 0):
            high = (index >> digit & 1).astype(bool)
            ones, zeros = _pushed(node, position, high), _pushed(node, position, ~high)
            left = [b for b in left if not np.where(out_index[b] >> digit & 1, zeros, ones).any()]
        if left:
            pairs.append((axis, left[0]))
    return pairs


def _pushed(node: Node, position: int, flags: Flags) -> Flags:
    """Which elements of the result an infinite tangent at the flagged elements touches."""
    assert node.op is not None
    assert node.op.forward is not None
    tangents: list[Any] = [None] * len(node.parents)
    tangents[position] = _infinite(node.parents[position], flags)
    return _touched(node.op.forward(node, *node.values(None), tangents), node.shape)


def _pulled(node: Node, position: int, flags: Flags) -> Flags:
    """Which elements of the input an infinite cotangent at the flagged elements touches."""
    assert node.op is not None
    cotangents = node.op.reverse(_infinite(node, flags), node, *node.values(None))
    return _touched(cotangents[position], node.parents[position].shape)


def _infinite(node: Node, flags: Flags) -> np.ndarray[Any, Any]:
    return (
        np.where(flags, complex(np.inf, np.inf) if node.dtype.kind == "c" else np.inf, 0)
        .astype(node.dtype)
        .reshape(node.shape)
    )


def _touched(answer: Any, shape: Shape) -> Flags:
    if answer is None:
        return np.zeros(int(np.prod(shape)), bool)
    if np.shape(answer) != shape:
        raise ShapeError(f"a rule answered with shape {np.shape(answer)} instead of {shape}")
    touched: Flags = (answer != 0).ravel()
    return touched
