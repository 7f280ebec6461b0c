"""Inline a composite kernel: an instruction becomes the operations of the table that its kernel consists of.

The kernel is traced: it runs once on `KernelTracer` arrays, which have a shape and a dtype but no elements, and record
the operations. So no formula is written twice, once for NumPy and once for native code. A kernel that reads an element,
writes to a part of an array, or calls a function that is not in the table, is not inlined.
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
_known: dict[Any, tuple[list[KernelStep], list[Value]] | None] = {}


class NotInlinable(Exception):
    """The kernel does something that cannot be recorded."""


class KernelStep:
    """One recorded operation of a kernel."""

    __slots__ = ("name", "operands", "params", "result")

    def __init__(self, name: str, operands: tuple[Any, ...], params: dict[str, Any], result: Value) -> None:
        self.name, self.operands, self.params, self.result = name, operands, params, result


def inline_kernel(instruction: Instruction, next_id: int) -> list[Instruction] | None:
    """The instructions of the kernel, all of them native, with new ids from `next_id` on; None if there are none.

    >>> import numpy as np
    >>> from gradtape.core.rules import TABLE
    >>> from gradtape.jit.native.lower.inline_kernel import inline_kernel
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> import gradtape.ops.activations
    >>> x, y = (Value(i, (3,), np.dtype(float)) for i in range(2))
    >>> inline_kernel(Instruction(TABLE["softsign"], (x,), {}, (y,)), 2)
    [%2: float64[3] = absolute(%0), %3: float64[3] = add(1, %2), %1: float64[3] = divide(%0, %3)]
    """
    key = _key(instruction)
    if key is None:
        return None
    if key not in _known:
        if len(_known) >= _KEPT:
            _known.clear()
        _known[key] = _trace_kernel(instruction)
    found = _known[key]
    if found is None:
        return None
    steps, results = found
    own = {x.id: given for x, given in zip(_inputs(instruction), instruction.values, strict=True)}
    own |= {x.id: given for x, given in zip(results, instruction.results, strict=True)}
    made = []
    for step in steps:
        if step.result.id not in own:
            own[step.result.id] = Value(next_id, step.result.shape, step.result.dtype)
            next_id += 1
        operands = tuple([own[x.id] if type(x) is Value else x for x in step.operands])
        made.append(
            instruction.replace(
                op=TABLE[step.name], operands=operands, params=step.params, results=(own[step.result.id],)
            )
        )
    return made


def _key(instruction: Instruction) -> Any:
    """The key of the cache of traced kernels; None for instructions that cannot be inlined."""
    kernel = instruction.op.kernel
    if instruction.effect or (isinstance(kernel, np.ufunc) and kernel is not np.vecdot):  # a single operation
        return None
    values = (*instruction.values, *instruction.results)
    if not all(elementwise.has_type(value.dtype) and 0 not in value.shape for value in values):
        return None
    try:
        params = [(name, _fingerprint(value)) for name, value in instruction.params.items()]
        operands = [
            (x.shape, x.dtype.char) if type(x) is Value else _fingerprint(x.value)  # type: ignore[union-attr]
            for x in instruction.operands
        ]
    except NotInlinable:
        return None
    return instruction.op.name, id(instruction.op), tuple(operands), tuple(params)


def _fingerprint(value: Any) -> Any:
    """A hashable key of a parameter: its type and its `repr`."""
    if isinstance(value, tuple | list):
        return (type(value), *map(_fingerprint, value))
    if isinstance(value, slice):
        return ("slice", _fingerprint(value.start), _fingerprint(value.stop), _fingerprint(value.step))
    if not isinstance(value, _PLAIN):
        raise NotInlinable
    return type(value), repr(value)


def _inputs(instruction: Instruction) -> list[Value]:
    """The values that stand for the operands in the traced kernel, with negative ids."""
    return [Value(-1 - i, value.shape, value.dtype) for i, value in enumerate(instruction.values)]


def _trace_kernel(instruction: Instruction) -> tuple[list[KernelStep], list[Value]] | None:
    steps: list[KernelStep] = []
    supply = iter(_inputs(instruction))
    inputs = [KernelTracer(steps, next(supply)) if type(x) is Value else x.value for x in instruction.operands]  # type: ignore[union-attr]
    try:
        with np.errstate(all="ignore"):
            found = instruction.op.kernel(*inputs, **instruction.params)
    except Exception:  # of any class: a kernel may fail in many ways on a tracer
        return None
    outputs = found if instruction.op.outputs else (found,)
    results = []
    for output, value in zip(outputs, instruction.results, strict=True):
        if type(output) is not KernelTracer or (output.shape, output.dtype) != (value.shape, value.dtype):
            return None
        results.append(output.value)
    made = {step.result.id for step in steps}
    ids = [value.id for value in results]
    if len(set(ids)) < len(ids) or not made.issuperset(ids):
        return None
    steps = _drop_unused(steps, set(ids))
    own = [step for step in steps if step.name == instruction.op.name]
    if own or not all(_is_native(step) for step in steps):
        return None
    return steps, results


def _drop_unused(steps: Sequence[KernelStep], wanted: set[int]) -> list[KernelStep]:
    kept = []
    for step in reversed(steps):
        if step.result.id in wanted:
            kept.append(step)
            wanted.update(x.id for x in step.operands if type(x) is Value)
    return kept[::-1]


def _is_native(step: KernelStep) -> bool:
    return support.supports(Instruction(TABLE[step.name], step.operands, step.params, (step.result,)))


# -- tracing a kernel


class KernelTracer(np.lib.mixins.NDArrayOperatorsMixin):
    """An array without elements that records operations. After `out=` or a masked write, it is the new value."""

    def __init__(self, steps: list[KernelStep], value: Value) -> None:
        self.steps, self.value = steps, value

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: len(self.value.shape))
    size = property(lambda self: math.prod(self.value.shape))
    real = property(lambda self: self)
    T = property(lambda self: self.transpose())
    mT = property(lambda self: _swap_axes(self, -1, -2))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotInlinable

    def __bool__(self) -> bool:
        raise NotInlinable

    __float__ = __int__ = __index__ = __iter__ = __bool__

    def __len__(self) -> int:
        return int(self.value.shape[0])

    def record(self, name: str, operands: Sequence[Any], shape: Any, dtype: Any, /, **params: Any) -> KernelTracer:
        """Record an operation; returns its result."""
        if name not in TABLE:
            raise NotInlinable
        result = Value(len(self.steps), tuple(map(int, shape)), np.dtype(dtype))
        self.steps.append(KernelStep(name, tuple([_as_operand(x) for x in operands]), params, result))
        return KernelTracer(self.steps, result)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            raise NotInlinable
        if ufunc is np.vecdot and out is None:
            return _vecdot(*inputs)
        if ufunc.signature is not None:
            raise NotInlinable
        values = [x for x in inputs if type(x) is KernelTracer]
        shape = np.broadcast_shapes(*[x.shape for x in values])
        dtype = ufunc(*[np.empty(0, x.dtype) if type(x) is KernelTracer else _number(x) for x in inputs]).dtype
        return self._into(out, self.record(ufunc.__name__, inputs, shape, dtype))

    def _into(self, out: Any, result: KernelTracer) -> Any:
        """The result; `out`, if given, stands for it from now on."""
        (target,) = out if isinstance(out, tuple) else (out,)
        if target is None:
            return result
        if type(target) is not KernelTracer or (target.shape, target.dtype) != (result.shape, result.dtype):
            raise NotInlinable
        target.value = result.value
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        known = _FUNCTIONS.get(function)
        if known is None:
            raise NotInlinable
        return known(*args, **kwargs)

    def __getitem__(self, index: Any) -> KernelTracer:
        parts = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(p, int | slice | type(None) | type(Ellipsis)) and not isinstance(p, bool) for p in parts):
            raise NotInlinable
        shape = np.broadcast_to(np.empty((), bool), self.shape)[index].shape
        return self.record("getitem", [self], shape, self.dtype, index=index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(index) is not KernelTracer or index.dtype != np.dtype(bool) or index.shape != self.shape:
            raise NotInlinable
        chosen = _where(index, self.dtype.type(_number(value)), self)
        self.value = chosen.value

    def astype(self, dtype: Any, copy: bool = True) -> KernelTracer:
        """Record a conversion; nothing if the dtype is the same."""
        wanted = np.dtype(dtype)
        return self if wanted == self.dtype else self.record("astype", [self], self.shape, wanted, dtype=wanted)

    def reshape(self, *shape: Any) -> KernelTracer:
        """Record a reshape; NumPy resolves a length of -1."""
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        wanted = np.broadcast_to(np.empty((), bool), self.shape).reshape(wanted).shape
        return self.record("reshape", [self], wanted, self.dtype, shape=wanted)

    def ravel(self, order: str = "C") -> KernelTracer:
        """Record a reshape to one axis; a kernel that asks for the order of the memory, "K", does not depend on it."""
        if order not in ("C", "K"):
            raise NotInlinable
        return self.reshape(-1)

    def dot(self, other: Any) -> Any:
        """Record the product of two vectors of one dtype."""
        if type(other) is not KernelTracer or self.ndim != 1 or (self.shape, self.dtype) != (other.shape, other.dtype):
            raise NotInlinable
        return _vecdot(self, other)

    def transpose(self, *axes: Any) -> KernelTracer:
        """Record a permutation of axes, which are reversed by default."""
        order = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = tuple(a % self.ndim for a in order) if order else tuple(reversed(range(self.ndim)))
        return self.record("transpose", [self], [self.shape[a] for a in order], self.dtype, axes=order)

    def copy(self) -> KernelTracer:
        """Another tracer of the same value: values are immutable."""
        return KernelTracer(self.steps, self.value)

    def sum(self, axis: Any = None, keepdims: bool = False) -> KernelTracer:
        """Record a sum."""
        return _reduce(self, "sum", np.sum, axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> KernelTracer:
        """Record a mean."""
        return _reduce(self, "mean", np.mean, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> KernelTracer:
        """Record a maximum."""
        return _reduce(self, "max", np.max, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> KernelTracer:
        """Record a minimum."""
        return _reduce(self, "min", np.min, axis, keepdims)


def _as_operand(x: Any) -> Any:
    return x.value if type(x) is KernelTracer else Literal(_number(x))


def _number(x: Any) -> Any:
    """A Python number unchanged, a 0-dimensional array as a scalar of its dtype."""
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x[()]
    if not isinstance(x, bool | int | float | np.bool | np.number):
        raise NotInlinable
    return x


def _reduce(x: KernelTracer, name: str, function: Any, axis: Any, keepdims: bool) -> KernelTracer:
    axes = None if axis is None else tuple(axis) if isinstance(axis, tuple | list) else (operator.index(axis),)
    axes = None if axes is None else tuple(a % x.ndim for a in axes)
    sample = function(np.broadcast_to(np.zeros((), x.dtype), (1,) * x.ndim), axis=axes, keepdims=keepdims)
    gone = range(x.ndim) if axes is None else axes
    shape = [1 if a in gone else n for a, n in enumerate(x.shape) if keepdims or a not in gone]
    return x.record(name, [x], shape, np.asarray(sample).dtype, axis=axes, keepdims=keepdims)


def _with_initial(ufunc: np.ufunc, found: KernelTracer, initial: Any) -> Any:
    """A maximum or minimum combined with its `initial` argument."""
    return found if initial is None else ufunc(found, initial)


def _swap_axes(x: KernelTracer, one: int, other: int) -> KernelTracer:
    order = list(range(x.ndim))
    order[one], order[other] = order[other], order[one]
    return x.transpose(tuple(order))


def _where(condition: Any, yes: Any, no: Any) -> Any:
    given = [condition, yes, no]
    values = [x for x in given if type(x) is KernelTracer]
    shape = np.broadcast_shapes(*[x.shape for x in values])
    dtype = np.result_type(*[np.empty(0, x.dtype) if type(x) is KernelTracer else _number(x) for x in (yes, no)])
    if type(condition) is KernelTracer:
        return condition.record("where", given, shape, dtype)
    chosen = yes if _number(condition) else no
    if type(chosen) is not KernelTracer or chosen.shape != shape:
        raise NotInlinable
    return chosen.astype(dtype)


def _clip(x: KernelTracer, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _expand(x: KernelTracer, axis: int) -> KernelTracer:
    return x.reshape(np.expand_dims(np.broadcast_to(np.empty((), bool), x.shape), axis).shape)


def _squeeze(x: KernelTracer, axis: Any = None) -> KernelTracer:
    return x.reshape(np.squeeze(np.broadcast_to(np.empty((), bool), x.shape), axis).shape)


def _join(name: str, function: Callable[..., Any]) -> Callable[..., KernelTracer]:
    def joined(arrays: Sequence[Any], axis: int = 0) -> KernelTracer:
        if not all(type(x) is KernelTracer for x in arrays) or len({x.dtype for x in arrays}) > 1:
            raise NotInlinable
        found = function([np.broadcast_to(np.empty((), bool), x.shape) for x in arrays], axis=axis)
        first: KernelTracer = arrays[0]
        return first.record(name, arrays, found.shape, first.dtype, axis=axis)

    return joined


def _roll(x: Any, shift: Any, axis: Any = None) -> Any:
    """Roll by slicing and concatenating, one axis after the other."""
    if axis is None:
        return _roll(x.reshape(-1), shift, 0).reshape(x.shape)
    shifts, axes = np.broadcast_arrays(shift, axis)
    moved = False
    for count, along in zip(shifts.reshape(-1).tolist(), axes.reshape(-1).tolist(), strict=True):
        along %= x.ndim
        start = -count % x.shape[along]
        if start:
            ahead = (slice(None),) * along
            x = np.concatenate([x[(*ahead, slice(start, None))], x[(*ahead, slice(0, start))]], axis=along)
            moved = True
    return x if moved else x.reshape(x.shape)  # a result is a value of its own


def _vecdot(x: Any, y: Any) -> Any:
    return (x * y).sum(axis=-1)


def _sinc(x: KernelTracer) -> Any:
    angle = np.pi * x
    angle = np.where(angle, angle, np.finfo(angle.dtype).eps)
    return np.sin(angle) / angle


def _isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Closeness as NumPy defines it: what is not finite is close only if it is equal."""
    near = np.logical_and(np.less_equal(np.abs(x - y), atol + rtol * np.abs(y)), np.isfinite(y))
    close = np.logical_or(near, np.equal(x, y))
    return np.logical_or(close, np.logical_and(np.isnan(x), np.isnan(y))) if equal_nan else close


def _round(x: Any, decimals: int = 0) -> Any:
    """Round to decimals as NumPy does: multiply by a power of ten, round, divide."""
    if x.dtype.kind != "f" or not decimals:
        return np.rint(x)
    power = x.dtype.type(10.0 ** abs(decimals))
    return np.rint(x * power) / power if decimals > 0 else np.rint(x / power) * power


def _nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if x.dtype.kind != "f":
        raise NotInlinable
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
    np.max: lambda x, axis=None, keepdims=False, initial=None: _with_initial(
        np.maximum, x.max(axis, keepdims), initial
    ),
    np.min: lambda x, axis=None, keepdims=False, initial=None: _with_initial(
        np.minimum, x.min(axis, keepdims), initial
    ),
    np.swapaxes: lambda x, one, other: _swap_axes(x, one, other),
    np.matrix_transpose: lambda x: _swap_axes(x, -1, -2),
    np.reshape: lambda x, shape: x.reshape(shape),
    np.transpose: lambda x, axes=None: x.transpose(*(() if axes is None else (axes,))),
    np.real: lambda x: x,
    np.iscomplexobj: lambda x: False,
    np.result_type: lambda *given: np.result_type(
        *[np.empty(0, x.dtype) if type(x) is KernelTracer else x for x in given]
    ),
    np.round: _round,
    np.isclose: _isclose,
    np.sinc: _sinc,
    np.fix: lambda x: np.trunc(x),
    np.nan_to_num: _nan_to_num,
}
