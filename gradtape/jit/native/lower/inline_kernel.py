"""Rows whose kernels are made of other rows: an instruction as the smaller ones that its kernel does.

A kernel is run, once, on arrays that have no elements to look at and write down what is done with them. What it did is
the program that native code is given, so that no formula is written twice. A kernel that looks at a number, writes into
a part of an array, or calls what is not a row, is left as it is.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Literal, Value
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import support

_PLAIN = (bool, int, float, str, type(None), np.dtype, np.generic, type)
_KEPT = 4096
_known: dict[Any, tuple[list[_Note], list[Value]] | None] = {}


class NotUnfolded(Exception):
    """A kernel does something that cannot be written down."""


class _Note:
    """One instruction of a kernel, on the values that it was written down with."""

    __slots__ = ("name", "operands", "params", "result")

    def __init__(self, name: str, operands: tuple[Any, ...], params: dict[str, Any], result: Value) -> None:
        self.name, self.operands, self.params, self.result = name, operands, params, result


def unfolded(instruction: Instruction, next_id: int) -> list[Instruction] | None:
    """The smaller instructions, all of them native, whose new values count from `next_id`; None if there are none.

    >>> import numpy as np
    >>> from gradtape.core.rules import TABLE
    >>> from gradtape.jit.native.lower.inline_kernel import unfolded
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> import gradtape.ops.activations
    >>> x, y = (Value(i, (3,), np.dtype(float)) for i in range(2))
    >>> unfolded(Instruction(TABLE["softsign"], (x,), {}, (y,)), 2)
    [%2: float64[3] = absolute(%0), %3: float64[3] = add(1, %2), %1: float64[3] = divide(%0, %3)]
    """
    key = _key(instruction)
    if key is None:
        return None
    if key not in _known:
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = _written(instruction)
    found = _known[key]
    if found is None:
        return None
    notes, results = found
    own = {x.id: given for x, given in zip(_inputs(instruction), instruction.values, strict=True)}
    own |= {x.id: given for x, given in zip(results, instruction.results, strict=True)}
    made = []
    for note in notes:
        if note.result.id not in own:
            own[note.result.id] = Value(next_id, note.result.shape, note.result.dtype)
            next_id += 1
        operands = tuple([own[x.id] if type(x) is Value else x for x in note.operands])
        made.append(
            instruction.replace(
                op=TABLE[note.name], operands=operands, params=note.params, results=(own[note.result.id],)
            )
        )
    return made


def _key(instruction: Instruction) -> Any:
    """What the writing depends on; None for instructions that nothing is to be gained from."""
    kernel = instruction.op.kernel
    if instruction.effect or (isinstance(kernel, np.ufunc) and kernel is not np.vecdot):  # one step as it is
        return None
    values = (*instruction.values, *instruction.results)
    if not all(elementwise.has_type(value.dtype) and 0 not in value.shape for value in values):
        return None
    try:
        params = [(name, _named(value)) for name, value in instruction.params.items()]
        operands = [
            (x.shape, x.dtype.char) if type(x) is Value else _named(x.value)  # type: ignore[union-attr]
            for x in instruction.operands
        ]
    except NotUnfolded:
        return None
    return instruction.op.name, id(instruction.op), tuple(operands), tuple(params)


def _named(value: Any) -> Any:
    """A parameter by its kind and its digits."""
    if isinstance(value, tuple | list):
        return (type(value), *map(_named, value))
    if isinstance(value, slice):
        return ("slice", _named(value.start), _named(value.stop), _named(value.step))
    if not isinstance(value, _PLAIN):
        raise NotUnfolded
    return type(value), repr(value)


def _inputs(instruction: Instruction) -> list[Value]:
    """What the operands are called in the writing."""
    return [Value(-1 - i, value.shape, value.dtype) for i, value in enumerate(instruction.values)]


def _written(instruction: Instruction) -> tuple[list[_Note], list[Value]] | None:
    notes: list[_Note] = []
    supply = iter(_inputs(instruction))
    inputs = [Noted(notes, next(supply)) if type(x) is Value else x.value for x in instruction.operands]  # type: ignore[union-attr]
    try:
        with np.errstate(all="ignore"):
            found = instruction.op.kernel(*inputs, **instruction.params)
    except Exception:  # of any kind: a kernel may fail in its own ways on what is no array
        return None
    outputs = found if instruction.op.outputs else (found,)
    results = []
    for output, value in zip(outputs, instruction.results, strict=True):
        if type(output) is not Noted or (output.shape, output.dtype) != (value.shape, value.dtype):
            return None
        results.append(output.value)
    made = {note.result.id for note in notes}
    ids = [value.id for value in results]
    if len(set(ids)) < len(ids) or not made.issuperset(ids):
        return None
    notes = _needed(notes, set(ids))
    own = [note for note in notes if note.name == instruction.op.name]
    if own or not all(_is_native(note) for note in notes):
        return None
    return notes, results


def _needed(notes: Sequence[_Note], wanted: set[int]) -> list[_Note]:
    kept = []
    for note in reversed(notes):
        if note.result.id in wanted:
            kept.append(note)
            wanted.update(x.id for x in note.operands if type(x) is Value)
    return kept[::-1]


def _is_native(note: _Note) -> bool:
    return support.supports(Instruction(TABLE[note.name], note.operands, note.params, (note.result,)))


# -- arrays that write down what is done with them


class Noted(np.lib.mixins.NDArrayOperatorsMixin):
    """Has a shape and a dtype. Where it is written to as a whole, it stands for what was written from then on."""

    def __init__(self, notes: list[_Note], value: Value) -> None:
        self.notes, self.value = notes, value

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: len(self.value.shape))
    size = property(lambda self: math.prod(self.value.shape))
    real = property(lambda self: self)
    T = property(lambda self: self.transpose())
    mT = property(lambda self: _swapped(self, -1, -2))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotUnfolded

    def __bool__(self) -> bool:
        raise NotUnfolded

    __float__ = __int__ = __index__ = __iter__ = __bool__

    def __len__(self) -> int:
        return int(self.value.shape[0])

    def note(self, name: str, operands: Sequence[Any], shape: Any, dtype: Any, /, **params: Any) -> Noted:
        """A new instruction and its result."""
        if name not in TABLE:
            raise NotUnfolded
        result = Value(len(self.notes), tuple(map(int, shape)), np.dtype(dtype))
        self.notes.append(_Note(name, tuple([_operand(x) for x in operands]), params, result))
        return Noted(self.notes, result)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            raise NotUnfolded
        if ufunc is np.vecdot and out is None:
            return _vecdot(*inputs)
        if ufunc.signature is not None:
            raise NotUnfolded
        values = [x for x in inputs if type(x) is Noted]
        shape = np.broadcast_shapes(*[x.shape for x in values])
        dtype = ufunc(*[np.empty(0, x.dtype) if type(x) is Noted else _number(x) for x in inputs]).dtype
        return self._into(out, self.note(ufunc.__name__, inputs, shape, dtype))

    def _into(self, out: Any, result: Noted) -> Any:
        """The result; in the place of `out`, if there is one."""
        (target,) = out if isinstance(out, tuple) else (out,)
        if target is None:
            return result
        if type(target) is not Noted or (target.shape, target.dtype) != (result.shape, result.dtype):
            raise NotUnfolded
        target.value = result.value
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        known = _FUNCTIONS.get(function)
        if known is None:
            raise NotUnfolded
        return known(*args, **kwargs)

    def __getitem__(self, index: Any) -> Noted:
        parts = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(p, int | slice | type(None) | type(Ellipsis)) and not isinstance(p, bool) for p in parts):
            raise NotUnfolded
        shape = np.broadcast_to(np.empty((), bool), self.shape)[index].shape
        return self.note("getitem", [self], shape, self.dtype, index=index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(index) is not Noted or index.dtype != np.dtype(bool) or index.shape != self.shape:
            raise NotUnfolded
        chosen = _where(index, self.dtype.type(_number(value)), self)
        self.value = chosen.value

    def astype(self, dtype: Any, copy: bool = True) -> Noted:
        wanted = np.dtype(dtype)
        return self if wanted == self.dtype else self.note("astype", [self], self.shape, wanted, dtype=wanted)

    def reshape(self, *shape: Any) -> Noted:
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        wanted = np.broadcast_to(np.empty((), bool), self.shape).reshape(wanted).shape
        return self.note("reshape", [self], wanted, self.dtype, shape=wanted)

    def transpose(self, *axes: Any) -> Noted:
        order = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = tuple(a % self.ndim for a in order) if order else tuple(reversed(range(self.ndim)))
        return self.note("transpose", [self], [self.shape[a] for a in order], self.dtype, axes=order)

    def copy(self) -> Noted:
        return Noted(self.notes, self.value)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Noted:
        return _reduced(self, "sum", np.sum, axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Noted:
        return _reduced(self, "mean", np.mean, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Noted:
        return _reduced(self, "max", np.max, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Noted:
        return _reduced(self, "min", np.min, axis, keepdims)


def _operand(x: Any) -> Any:
    return x.value if type(x) is Noted else Literal(_number(x))


def _number(x: Any) -> Any:
    """A Python number as it is, an array of no dimensions as a scalar of its dtype."""
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x[()]
    if not isinstance(x, bool | int | float | np.bool | np.number):
        raise NotUnfolded
    return x


def _reduced(x: Noted, name: str, function: Any, axis: Any, keepdims: bool) -> Noted:
    axes = None if axis is None else tuple(axis) if isinstance(axis, tuple | list) else (operator.index(axis),)
    axes = None if axes is None else tuple(a % x.ndim for a in axes)
    sample = function(np.broadcast_to(np.zeros((), x.dtype), (1,) * x.ndim), axis=axes, keepdims=keepdims)
    gone = range(x.ndim) if axes is None else axes
    shape = [1 if a in gone else n for a, n in enumerate(x.shape) if keepdims or a not in gone]
    return x.note(name, [x], shape, np.asarray(sample).dtype, axis=axes, keepdims=keepdims)


def _from(ufunc: np.ufunc, found: Noted, initial: Any) -> Any:
    """The largest or smallest, where there is a number to begin with."""
    return found if initial is None else ufunc(found, initial)


def _swapped(x: Noted, one: int, other: int) -> Noted:
    order = list(range(x.ndim))
    order[one], order[other] = order[other], order[one]
    return x.transpose(tuple(order))


def _where(condition: Any, yes: Any, no: Any) -> Any:
    given = [condition, yes, no]
    values = [x for x in given if type(x) is Noted]
    shape = np.broadcast_shapes(*[x.shape for x in values])
    dtype = np.result_type(*[np.empty(0, x.dtype) if type(x) is Noted else _number(x) for x in (yes, no)])
    if type(condition) is Noted:
        return condition.note("where", given, shape, dtype)
    chosen = yes if _number(condition) else no
    if type(chosen) is not Noted or chosen.shape != shape:
        raise NotUnfolded
    return chosen.astype(dtype)


def _clip(x: Noted, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _expand(x: Noted, axis: int) -> Noted:
    return x.reshape(np.expand_dims(np.broadcast_to(np.empty((), bool), x.shape), axis).shape)


def _squeeze(x: Noted, axis: Any = None) -> Noted:
    return x.reshape(np.squeeze(np.broadcast_to(np.empty((), bool), x.shape), axis).shape)


def _join(name: str, function: Callable[..., Any]) -> Callable[..., Noted]:
    def joined(arrays: Sequence[Any], axis: int = 0) -> Noted:
        if not all(type(x) is Noted for x in arrays) or len({x.dtype for x in arrays}) > 1:
            raise NotUnfolded
        found = function([np.broadcast_to(np.empty((), bool), x.shape) for x in arrays], axis=axis)
        first: Noted = arrays[0]
        return first.note(name, arrays, found.shape, first.dtype, axis=axis)

    return joined


def _roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """The end before the beginning, along one axis after the other."""
    if axis is None:
        return _roll(x.reshape(-1), shift, 0).reshape(x.shape)
    shifts, axes = np.broadcast_arrays(shift, axis)
    for steps, along in zip(shifts.reshape(-1).tolist(), axes.reshape(-1).tolist(), strict=True):
        along %= x.ndim
        start = -steps % x.shape[along]
        if start:
            ahead = (slice(None),) * along
            x = np.concatenate([x[(*ahead, slice(start, None))], x[(*ahead, slice(0, start))]], axis=along)
    return x


def _vecdot(x: Any, y: Any) -> Any:
    return (x * y).sum(axis=-1)


def _sinc(x: Noted) -> Any:
    angle = np.pi * x
    angle = np.where(angle, angle, np.finfo(angle.dtype).eps)
    return np.sin(angle) / angle


def _round(x: Any, decimals: int = 0) -> Any:
    """To so many decimals, as NumPy does it: by a power of ten, there and back."""
    if x.dtype.kind != "f" or not decimals:
        return np.rint(x)
    power = x.dtype.type(10.0 ** abs(decimals))
    return np.rint(x * power) / power if decimals > 0 else np.rint(x / power) * power


def _nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if x.dtype.kind != "f":
        raise NotUnfolded
    limits, kind = np.finfo(x.dtype), x.dtype.type
    for mask, number, usual in (
        (np.isnan(x), nan, 0.0),
        (np.equal(x, np.inf), posinf, limits.max),
        (np.equal(x, -np.inf), neginf, limits.min),
    ):
        x = np.where(mask, kind(usual if number is None else _number(number)), x)
    return x


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.clip: _clip,
    np.expand_dims: _expand,
    np.squeeze: _squeeze,
    np.concatenate: _join("concatenate", np.concatenate),
    np.stack: _join("stack", np.stack),
    np.roll: _roll,
    np.sum: lambda x, axis=None, keepdims=False: x.sum(axis, keepdims),
    np.mean: lambda x, axis=None, keepdims=False: x.mean(axis, keepdims),
    np.max: lambda x, axis=None, keepdims=False, initial=None: _from(np.maximum, x.max(axis, keepdims), initial),
    np.min: lambda x, axis=None, keepdims=False, initial=None: _from(np.minimum, x.min(axis, keepdims), initial),
    np.swapaxes: lambda x, one, other: _swapped(x, one, other),
    np.matrix_transpose: lambda x: _swapped(x, -1, -2),
    np.reshape: lambda x, shape: x.reshape(shape),
    np.transpose: lambda x, axes=None: x.transpose(*(() if axes is None else (axes,))),
    np.real: lambda x: x,
    np.iscomplexobj: lambda x: False,
    np.result_type: lambda *given: np.result_type(*[np.empty(0, x.dtype) if type(x) is Noted else x for x in given]),
    np.round: _round,
    np.sinc: _sinc,
    np.fix: lambda x: np.trunc(x),
    np.nan_to_num: _nan_to_num,
}
