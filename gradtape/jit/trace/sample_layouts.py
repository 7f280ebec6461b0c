"""Shape, dtype and memory layout of the result of an operation, without its numbers.

`layouts_of` gives an array of the result's layout that nothing has written to, or a number of NumPy's if the result is
one; None for operations without a rule, which have to be computed. Shapes follow from the rules below. Dtype and layout
are found by running the kernel on stand-ins: operands of at most two elements along each axis, whose elements are 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import is_not
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.core.shapes import Shape
from gradtape.jit.ir.program import Literal, Loop, Value, new_stack, params_key
from gradtape.loops.scan import PARTS
from gradtape.ops.einsum import is_large
from gradtape.transforms.custom.checkpoint import SAME

SMALL = 2
"""How many elements a stand-in has at most along an axis."""
LOOP_PASSES = 4
"""How many iterations of a loop are followed until the layouts of what it carries stay the same."""
_EXACT = 1 << 24
_NUMBERS = (bool, int, float, complex)
_ARRAYS = (np.ndarray, np.generic)
ShapeRule = Callable[[Sequence[Shape], dict[str, Any]], Shape]


SHARING = (SAME, PARTS)
"""Operations outside of the table whose results share memory with their operand."""


def layouts_of(op: Op, samples: Sequence[Any], layouts: Sequence[Any], params: dict[str, Any]) -> Any:
    """The layout of the result of `op`, or a tuple of them; None if it is not known without numbers.

    `layouts` are the operands: arrays, of which those whose `samples` are others have no numbers, and numbers.
    """
    if op.kind == "loop":
        return _loop(layouts, params)
    if op in SHARING and layouts[0] is not samples[0]:
        return op.kernel(*layouts, **params)
    if TABLE.get(op.name) is not op:
        return None
    for x in layouts:
        if not isinstance(x, _ARRAYS) and type(x) not in _NUMBERS:
            return None
    if op.view or op.name in _DIRECT:
        if (op.view or op.name in _BY_POSITION) and len(samples) > 1 and any(map(is_not, samples[1:], layouts[1:])):
            return None  # an index that is not known
        rule = _DIRECT.get(op.name, _moved)
        try:
            with np.errstate(all="ignore"):
                return rule(op, layouts, params)
        except Exception:
            return None  # computing it raises the explained error
    if op.outputs:
        return None
    if op.ufunc and op.kind in ("elementwise", "constant", "linear", "general") and op.name != "vecdot":
        return None if params else _of_ufunc(op.kernel, layouts)
    shape_rule = _SHAPES.get(op.name) or (_broadcast if op.kind == "elementwise" else None)
    return None if shape_rule is None else _by_stand_ins(op, layouts, params, shape_rule)


def scattered_bytes(x: Any, params: dict[str, Any]) -> int:
    """The size of the result of a `scatter`."""
    size: int = math.prod(params["shape"]) * x.dtype.itemsize
    return size


# -- ufuncs

_dtypes: dict[Any, np.dtype[Any] | None] = {}


def _of_ufunc(ufunc: Any, operands: Sequence[Any]) -> Any:
    key = (ufunc, *map(_kind, operands))
    if key not in _dtypes:
        _dtypes[key] = _resolve(ufunc, key[1:])
    dtype = _dtypes[key]
    if dtype is None or not all(map(_is_harmless, operands)):
        return None
    shapes = [x.shape for x in operands if not isinstance(x, _NUMBERS)]
    shape = _common_shape(shapes)
    if shape is None:
        return None
    if not shape:
        return dtype.type()
    arrays = [x for x in operands if isinstance(x, np.ndarray) and x.ndim]
    for x in arrays:
        if x.shape != shape or not x.flags.c_contiguous:
            break
    else:
        return np.empty(shape, dtype)
    if 0 in shape:
        return None
    count = len(arrays)
    flags: Any = [*[["readonly"]] * count, ["writeonly", "allocate"]]
    iterator: Any = np.nditer([*arrays, None], ["refs_ok"], flags, [*[None] * count, dtype], order="K")
    return iterator.operands[count]


def _kind(x: Any) -> Any:
    """The dtype of an operand; of a Python number, whose dtype follows the other operands, its type."""
    kind = type(x)
    if kind is bool:
        return np.dtype(bool)
    return kind if kind in _NUMBERS else x.dtype


def _resolve(ufunc: np.ufunc, kinds: Sequence[Any]) -> np.dtype[Any] | None:
    if ufunc.nout != 1 or ufunc.signature is not None or len(kinds) != ufunc.nin:
        return None
    try:
        *_, found = ufunc.resolve_dtypes((*kinds, None))
    except TypeError:
        return None
    is_of_integer = any(kind is int for kind in kinds)
    if is_of_integer and not all(isinstance(kind, type) or kind == np.int64 or kind.kind in "fc" for kind in kinds):
        return None  # the number may not be one of the small type
    return found if found.kind in "fciub" else None


def _is_harmless(x: Any) -> bool:
    """Whether an operand, if it is an integer of Python's, is one of any type that it may meet."""
    return type(x) is not int or -_EXACT < x < _EXACT


def _common_shape(shapes: Sequence[Shape]) -> Shape | None:
    """The shape that operands are broadcast to; None if they do not fit together."""
    found: Shape = ()
    for shape in shapes:
        if shape == found or not shape:
            continue
        if not found:
            found = shape
            continue
        try:
            found = np.broadcast_shapes(found, shape)
        except ValueError:
            return None
    return found


# -- other operations, by stand-ins

_known: dict[Any, Any] = {}


def _by_stand_ins(op: Op, operands: Sequence[Any], params: dict[str, Any], rule: ShapeRule) -> Any:
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    if any(0 in x.shape for x in arrays):
        return None
    try:
        shape = rule([np.shape(x) for x in operands], params)
    except Exception:
        return None  # computing it raises the explained error
    if op.name == "einsum" and len(shape) > 1 and len(operands) > 2:
        return None  # its path depends on the lengths of the axes, and its layout on its path
    key = None
    if all(x.flags.c_contiguous for x in arrays):
        ranks = tuple([(_kind(x), tuple([min(n, SMALL) for n in np.shape(x)]), type(x)) for x in operands])
        key = params_key({"operands": ranks, "numbers": [x for x in operands if type(x) in _NUMBERS], **params})
        key = None if key is None else (op, key, op.name == "einsum" and is_large(operands))
    if key is not None and key in _known:
        found = _known[key]
    else:
        found = _run_on_stand_ins(op, operands, params, rule)
        if key is not None:
            if len(_known) > 10_000:
                _known.clear()
            _known[key] = found
    if found is None or isinstance(found, np.generic):
        return found
    return _arranged(found, shape, found.dtype)


def _arranged(like: Any, shape: Shape, dtype: np.dtype[Any]) -> Any:
    """Memory for an array whose axes lie in the order of those of `like`."""
    if like.flags.c_contiguous:
        return np.empty(shape, dtype)
    order = _axes_by_stride(like)
    made: Any = np.empty([shape[axis] for axis in order], dtype)
    return made.transpose([order.index(axis) for axis in range(like.ndim)])


def _axes_by_stride(array: Any) -> list[int]:
    return sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))


def _run_on_stand_ins(op: Op, operands: Sequence[Any], params: dict[str, Any], rule: ShapeRule) -> Any:
    """The result of the kernel for stand-ins; None if it raises or its shape is not the one of the rule."""
    small = [_stand_in(x) for x in operands]
    try:
        with np.errstate(all="ignore"):
            if op.name == "einsum":
                found = np.einsum(params["subscripts"], *small, optimize=is_large(operands))
            else:
                found = op.kernel(*small, **params)
        wanted = rule([np.shape(x) for x in small], params)
    except Exception:
        return None
    if not isinstance(found, np.ndarray | np.generic) or found.shape != wanted or found.dtype.kind not in "fciub":
        return None
    if isinstance(found, np.ndarray) and not found.transpose(_axes_by_stride(found)).flags.c_contiguous:
        return None  # a part of something else, such as the real parts of complex numbers
    if op.name == "power" and found.dtype.kind in "iu":
        return None  # a negative power is an error
    if any(isinstance(x, np.ndarray) and np.may_share_memory(x, found) for x in small):
        return None
    if any(np.iscomplexobj(x) for x in small) and op.name in _CASTS and found.dtype.kind != "c":
        return None  # there is a warning
    return found


def _stand_in(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.ones_like(x[(slice(0, SMALL),) * x.ndim], subok=False)
    return x.dtype.type(1) if isinstance(x, np.generic) else x


_CASTS = frozenset({"astype", "a cast to integer or bool"})


def _broadcast(shapes: Sequence[Shape], params: dict[str, Any]) -> Shape:
    return np.broadcast_shapes(*shapes)


def _same(shapes: Sequence[Shape], params: dict[str, Any]) -> Shape:
    return shapes[0]


def _reduced(shapes: Sequence[Shape], params: dict[str, Any]) -> Shape:
    axis, keepdims = params["axis"], params.get("keepdims", False)
    rank = len(shapes[0])
    axes = range(rank) if axis is None else [a % rank for a in (axis if isinstance(axis, tuple) else (axis,))]
    lengths = [(1 if place in axes else n) for place, n in enumerate(shapes[0]) if keepdims or place not in axes]
    return tuple(lengths)


def _product(shapes: Sequence[Shape], params: dict[str, Any]) -> Shape:
    left, right = shapes
    if left[-1] != right[-2 if len(right) > 1 else 0]:
        raise ValueError(shapes)
    stack = np.broadcast_shapes(left[:-2], right[:-2])
    return (*stack, *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))


def _outer(shapes: Sequence[Shape], params: dict[str, Any]) -> Shape:
    (rows,), (columns,) = shapes
    return rows, columns


def _einsum(shapes: Sequence[Shape], params: dict[str, Any]) -> Shape:
    terms, result = params["subscripts"].split("->")
    lengths: dict[str, int] = {}
    for term, shape in zip(terms.split(","), shapes, strict=True):
        for letter, n in zip(term, shape, strict=True):
            known = lengths.setdefault(letter, n)
            if known != n and 1 not in (known, n):
                raise ValueError(shapes)
            lengths[letter] = max(known, n)
    return tuple([lengths[letter] for letter in result])


def _concatenated(shapes: Sequence[Shape], params: dict[str, Any]) -> Shape:
    axis = params["axis"] % len(shapes[0])
    others = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
    if len(others) != 1:
        raise ValueError(shapes)
    return (*shapes[0][:axis], sum([shape[axis] for shape in shapes]), *shapes[0][axis + 1 :])


_SHAPES: dict[str, ShapeRule] = {
    **dict.fromkeys(("where", "identity", "stop_gradient", "astype", "a cast to integer or bool"), _broadcast),
    **dict.fromkeys(("sign", "round", "isneginf", "isposinf", "angle"), _broadcast),
    **dict.fromkeys(("sum", "mean", "max", "min", "prod", "any", "all", "logsumexp", "length"), _reduced),
    **dict.fromkeys(("argmax", "argmin", "count_nonzero"), _reduced),
    **dict.fromkeys(("softmax", "log_softmax", "cumsum", "cumprod", "roll"), _same),
    "matmul": _product,
    "outer": _outer,
    "einsum": _einsum,
    "concatenate": _concatenated,
}


# -- operations that move elements


def _moved(op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """A view is taken of memory that has no numbers; what is no view is copied from it."""
    return op.kernel(*operands, **params)


def _written(op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """Of `x[index] = value`: `x`, copied, if the value fits in there."""
    x, value = operands
    part = x[params["index"]]
    if np.broadcast_shapes(part.shape, np.shape(value)) != part.shape:
        return None
    if not isinstance(x, np.ndarray) or (np.iscomplexobj(value) and x.dtype.kind != "c"):
        return None
    if op.name == "add_at" and not np.can_cast(np.result_type(x.dtype, _kind(value)), x.dtype, "same_kind"):
        return None
    return np.empty_like(x, subok=False)


def _scattered(op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    (x,) = operands
    shape, index = params["shape"], params["index"]
    if np.broadcast_to(np.int8(0), shape)[index].shape != x.shape:
        return None
    return np.empty(shape, x.dtype)


def _taken(op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """Of elements at positions: the layout of the positions, which have to be known and within the array."""
    x, positions = operands
    picked = np.broadcast_to(np.int8(0), x.shape)[positions]  # raises where a position is not within
    return _arranged(picked, picked.shape, x.dtype) if isinstance(picked, np.ndarray) and picked.size else None


def _added(op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    x, positions = operands
    if x.shape != positions.shape or not _are_within(positions, params["length"]):
        return None
    return np.empty(params["length"], x.dtype)


def _are_within(positions: Any, length: int) -> bool:
    is_array = isinstance(positions, np.ndarray) and positions.size > 0
    return bool(is_array and positions.ndim and positions.min() >= 0 and positions.max() < length)


def _stacked(op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    first, axis = operands[0], params["axis"]
    if axis == 0 and all(type(x) is not bool and not isinstance(x, _NUMBERS) for x in operands):
        shape, dtype = first.shape, first.dtype
        alike = all(x.shape == shape and x.dtype is dtype for x in operands)
        if alike and all(isinstance(x, np.generic) or x.flags.c_contiguous for x in operands):
            return np.empty((len(operands), *shape), dtype)
    return None


_DIRECT: dict[str, Callable[[Op, Sequence[Any], dict[str, Any]], Any]] = {
    "set": _written,
    "add_at": _written,
    "scatter": _scattered,
    "broadcast_to": _moved,
    "stack": _stacked,
    "take at positions": _taken,
    "add at positions": _added,
}
_BY_POSITION = frozenset({"take at positions", "add at positions"})


# -- loops


def _loop(operands: Sequence[Any], params: dict[str, Any]) -> Any:
    """The layouts of the results of a loop; its body is followed until the layouts of what it carries are the same."""
    loop = params["loop"]
    if type(loop) is not Loop or loop.effect or not loop.length:
        return None
    if not all(isinstance(x, np.ndarray | np.generic) for x in operands):
        return None
    carried = list(operands[: loop.carried])
    sliced = [x[walk.start] for x, walk in zip(operands[loop.carried :], loop.sliced, strict=False)]
    read = list(operands[loop.carried + len(sliced) :])
    for _ in range(LOOP_PASSES):
        found = _follow(loop, [*carried, *sliced, *read])
        if found is None:
            return None
        last, carried = carried, found[: loop.carried]
        if all(_is_alike(one, other) for one, other in zip(last, carried, strict=True)):
            break
    else:
        return None
    made = [x if isinstance(x, np.generic) else np.empty_like(x, subok=False) for x in carried]
    rows = found[loop.carried :]
    made += [new_stack(row, loop.length) if np.ndim(row) else np.empty(loop.length, row.dtype) for row in rows]
    return tuple(made)


def _follow(loop: Loop, given: Sequence[Any]) -> list[Any] | None:
    """The layouts of what one iteration computes; None if one is not known."""
    body = loop.body
    known: dict[Value, Any] = dict(zip(body.inputs, given, strict=True))
    known.update({constant.value: constant.array for constant in body.constants})
    computed = set(body.inputs)  # what has no numbers
    for instruction in body.instructions:
        operands = [x.value if isinstance(x, Literal) else known[x] for x in instruction.operands]
        blank = [None if x in computed else y for x, y in zip(instruction.operands, operands, strict=True)]
        found = layouts_of(instruction.op, blank, operands, instruction.params)
        if found is None:
            return None
        computed.update(instruction.results)
        known.update(zip(instruction.results, found if instruction.op.outputs else (found,), strict=True))
    return [known[value] for value in body.outputs]


def _is_alike(one: Any, other: Any) -> bool:
    if isinstance(one, np.generic) or isinstance(other, np.generic):
        return type(one) is type(other)
    return one.shape == other.shape and one.dtype == other.dtype and bool(one.strides == other.strides)
