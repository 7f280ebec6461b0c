"""Samples that are not computed: a traced tensor has a shape, a dtype and a memory layout, and numbers only if it must.

While a function is traced, a tensor holds its array in this call, its sample. Of most samples only shape, dtype and
layout are looked at: the answer of the call is computed by the compiled program. So the result of an operation on large
arrays is an `UnevaluatedSample`, if `sample_layouts` knows its layout without its numbers. Whatever reads its numbers
evaluates it: it is no array, and NumPy converts it with `__array__`.

The numbers are computed from the recorded instructions, with NumPy's kernels, for all samples that exist by then. After
that, the rest of the trace computes its samples at once: a function that reads numbers reads them in a loop, often.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary, ref

import numpy as np

from gradtape.core.explain_hooks import any_zero_or_nonfinite, is_nan
from gradtape.core.location import overrides
from gradtape.core.operation import Op
from gradtape.core.references import COUNTS_LOCALS
from gradtape.core.shapes import Shape
from gradtape.explain.emit.withhold import defer
from gradtape.jit.ir.program import Instruction, Value
from gradtape.jit.trace import sample_layouts

if TYPE_CHECKING:
    from gradtape.jit.trace.tracer import TracingLevel

LARGE = 1 << 15
"""Bytes of an operand from which on the result of an operation is left unevaluated."""
LONG_LOOP = 1000
"""How many operations a loop runs from which on its results are left unevaluated."""
_LOUD = ("raise", "call", "print", "log")
_SILENT: Any = {"all": "ignore"}


class UnevaluatedSample(np.lib.mixins.NDArrayOperatorsMixin):
    """The sample of a traced tensor whose numbers were not computed yet.

    `layout` is memory that NumPy would have given the result, and that nothing has written to: views are views of it.
    When the sample is evaluated, the numbers are written there.
    """

    __slots__ = ("__weakref__", "is_evaluated", "is_scalar", "layout", "samples", "value", "viewed")

    def __init__(self, samples: LazySamples, layout: Any, viewed: UnevaluatedSample | None = None) -> None:
        self.samples, self.viewed, self.is_evaluated = samples, viewed, False
        self.is_scalar = isinstance(layout, np.generic)  # an immutable number of NumPy's, not an array
        self.layout: np.ndarray[Any, Any] = np.empty((), layout.dtype) if self.is_scalar else layout
        self.value: Value | None = None  # of a view of a sample, such as a row of it, there may be none

    # -- what is known without numbers

    @property
    def shape(self) -> Shape:
        """The length of each axis."""
        shape: Shape = self.layout.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        dtype: np.dtype[Any] = self.layout.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.layout.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.layout.size

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.layout.nbytes

    @property
    def strides(self) -> Shape:
        """The steps between elements in memory."""
        return self.layout.strides

    __hash__ = object.__hash__

    def __len__(self) -> int:
        return len(self.layout)

    def view(self, layout: Any) -> UnevaluatedSample:
        """A sample that shares the memory of this one."""
        return UnevaluatedSample(self.samples, layout, self)

    # -- its numbers

    def evaluate(self) -> Any:
        """The array or the number."""
        if not self.is_evaluated:
            if self.viewed is not None:
                self.viewed.evaluate()
                self.is_evaluated = True
            else:
                self.samples.evaluate_all()
                assert self.is_evaluated, "a sample was not evaluated with the others"
        return self.layout[()] if self.is_scalar else self.layout

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.evaluate(), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*[evaluated(x) for x in inputs], **kwargs)

    def __float__(self) -> float:
        return float(self.evaluate())

    def __int__(self) -> int:
        return int(self.evaluate())

    def __complex__(self) -> complex:
        return complex(self.evaluate())

    def __bool__(self) -> bool:
        return bool(self.evaluate())

    def __index__(self) -> int:
        return self.evaluate().__index__()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.evaluate(), name)

    def __getitem__(self, index: Any) -> Any:
        if not self.is_evaluated and type(index) is int:
            part = self.layout[index]
            if isinstance(part, np.ndarray):
                return self.view(part)
        return self.evaluate()[index]

    def check_later(self, check: str) -> bool:
        """Leave the check "gradient" or "target" to the end of the trace; False if it can be made at once.

        "gradient": whether it is zero everywhere, or not finite somewhere; "target": whether it is one number, NaN.
        """
        if self.is_evaluated or self.samples.is_of_body:
            return False
        self.samples.unchecked.append((self, check))
        return True


def evaluated(sample: Any) -> Any:
    """A sample with its numbers."""
    return sample.evaluate() if type(sample) is UnevaluatedSample else sample


class LazySamples:
    """The samples of one trace that are not computed at once."""

    def __init__(self, level: TracingLevel, outside: LazySamples | None = None) -> None:
        """`outside` are those of the trace around it, if it is the trace of a loop body."""
        self._level = ref(level)  # weak: the level holds this object
        self.is_of_body = outside is not None
        self.errors: Any = np.geterr() if outside is None else outside.errors
        # an error that NumPy raises has the line of its operation
        self.is_on: bool = not any(how in _LOUD for how in self.errors.values()) if outside is None else outside.is_on
        self.given: dict[Value, Any] = {}  # the samples of inputs, and of results that cannot be computed twice
        self.unchecked: list[tuple[UnevaluatedSample, str]] = []  # with the checks that are left to the end
        self._waiting: WeakValueDictionary[int, UnevaluatedSample] = WeakValueDictionary()  # in their order
        self._count = 0
        self._unreported: set[Value] = set()  # whose floating-point errors nothing has reported yet

    @property
    def level(self) -> TracingLevel:
        """The trace, which exists as long as its tensors do."""
        level = self._level()
        assert level is not None
        return level

    def result(self, op: Op, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        """The unevaluated result of an operation, or a tuple of results; None if it has to be computed."""
        wanted = False
        layouts = list(operands)
        for place, sample in enumerate(layouts):
            if type(sample) is UnevaluatedSample:
                if sample.is_evaluated:
                    layouts[place] = sample.evaluate()
                else:
                    wanted = True
                    layouts[place] = sample.layout[()] if sample.is_scalar else sample.layout
            elif isinstance(sample, np.ndarray) and sample.nbytes > LARGE:
                wanted = wanted or not op.view
        if op.kind == "loop":
            wanted = wanted or _is_long(params["loop"])
        elif not wanted and (op.name != "scatter" or sample_layouts.scattered_bytes(layouts[0], params) <= LARGE):
            return None
        found = sample_layouts.layouts_of(op, operands, layouts, params)
        if found is None:
            return None
        shares = op.view or op.name == "broadcast_to" or op in sample_layouts.SHARING
        base = operands[0] if shares and type(operands[0]) is UnevaluatedSample else None
        if type(found) is tuple:
            return tuple([self._new(layout, base) for layout in found])
        return self._new(found, base)

    def _new(self, layout: Any, base: UnevaluatedSample | None) -> UnevaluatedSample:
        """A new sample, which may be a view of `base`."""
        is_array = isinstance(layout, np.ndarray) and layout.size > 0
        if base is not None and is_array and np.may_share_memory(layout, base.layout):
            return base.view(layout)
        return UnevaluatedSample(self, layout)

    def bind(self, sample: UnevaluatedSample, value: Value) -> None:
        """Note which value of the program a new sample is of."""
        sample.value = value
        if sample.viewed is None:
            self._waiting[self._count] = sample
            self._count += 1
            override = overrides.innermost
            if override is None or not override.is_rule:  # a backward pass reports errors in its own way
                self._unreported.add(value)

    def rearranged(self, sample: UnevaluatedSample, layout: Any) -> UnevaluatedSample:
        """The same value in another layout."""
        other = UnevaluatedSample(self, layout)
        assert sample.value is not None
        self.bind(other, sample.value)
        return other

    def make_checks(self, shown: Container[Value]) -> list[Value]:
        """Make the checks that were left to the end of the trace; those of values in `shown` are left to the caller.

        These are the results of the program, which the first run computes. All others are computed here.
        """
        later: list[Value] = []
        hidden: list[tuple[UnevaluatedSample, str]] = []
        for sample, check in self.unchecked:
            assert sample.value is not None, "a tensor has a value"
            if sample.value in shown and not sample.is_evaluated:
                later += [sample.value] if check == "gradient" else []
            else:
                hidden.append((sample, check))
        self.unchecked = []
        missing = {sample.value for sample, _ in hidden if sample.value is not None and not sample.is_evaluated}
        arrays = self.compute(missing) if missing else {}
        for sample, check in hidden:
            assert sample.value is not None
            array = sample.evaluate() if sample.is_evaluated else arrays[sample.value]
            if is_nan([array]) or (check == "gradient" and any_zero_or_nonfinite([array])):
                defer("not finite" if not np.isfinite(array).all() else "zero")
        return later

    @property
    def hides_errors(self) -> bool:
        """Whether floating-point errors of this call may not have been reported."""
        return bool(self._unreported)

    # -- evaluation

    def evaluate_all(self) -> None:
        """Compute all samples that exist; from now on, samples are computed at once."""
        self.is_on = False
        waiting = list(self._waiting.values())
        arrays = self.compute({sample.value for sample in waiting if sample.value is not None})
        for sample in waiting:
            if sample.value is not None:
                fill(sample, arrays[sample.value])
        self._waiting.clear()

    def compute(self, values: Iterable[Value]) -> dict[Value, Any]:
        """The arrays of values of the program recorded so far, by NumPy's kernels."""
        wanted = set(values)
        run = self._instructions_for(wanted)
        known: dict[Value, Any] = {constant.value: constant.array for constant in self.level.constants}
        known.update({value: evaluated(sample) for value, sample in self.given.items()})
        last: dict[Value, Instruction] = {}
        for instruction in run:
            last.update(dict.fromkeys(instruction.values, instruction))
        for instruction in run:
            operands = [known[x] if isinstance(x, Value) else x.value for x in instruction.operands]
            for value in {x for x in instruction.operands if isinstance(x, Value)}:
                if last[value] is instruction and value not in wanted:
                    del known[value]
            is_new = not self._unreported.isdisjoint(instruction.results)
            self._unreported.difference_update(instruction.results)
            with np.errstate(**(self.errors if is_new else _SILENT)):
                out = _run(instruction, operands)
            results = out if instruction.op.outputs else (out,)
            found = dict(zip(instruction.results, results, strict=True))
            known.update({value: array for value, array in found.items() if value in last or value in wanted})
        return {value: known[value] for value in wanted}

    def _instructions_for(self, wanted: set[Value]) -> list[Instruction]:
        """The recorded instructions that compute `wanted`, in their order."""
        needed = set(wanted)
        found = []
        for instruction in reversed(self.level.instructions):
            if not needed.isdisjoint(instruction.results) and not all(v in self.given for v in instruction.results):
                found.append(instruction)
                needed.update(instruction.values)
        return found[::-1]


def fill(sample: UnevaluatedSample, array: Any) -> None:
    """Write the numbers of a sample."""
    if sample.layout.size and not (isinstance(array, np.ndarray) and np.may_share_memory(sample.layout, array)):
        sample.layout[...] = array
    sample.is_evaluated = True


def _is_long(loop: Any) -> bool:
    return bool(getattr(loop, "length", 0) * len(loop.body.instructions) >= LONG_LOOP)


def _run(instruction: Instruction, operands: list[Any]) -> Any:
    op, params = instruction.op, instruction.params
    if op.kind == "loop":  # runs once here: not worth native code
        return params["loop"].evaluator.call(*operands)
    if op.name == "set" and COUNTS_LOCALS:
        x = operands[0]
        operands[0] = None
        if _is_unshared(x) and x.base is None and x.flags.writeable:
            x[params["index"]] = operands[1]
            return x
        operands[0] = x
    return op.kernel(*operands, **params)


def _count_references() -> int:
    def count(array: Any) -> int:
        return sys.getrefcount(array)

    operands: list[Any] = [np.empty(1)]
    x = operands[0]
    operands[0] = None
    return count(x)


def _is_unshared(array: Any) -> bool:
    """Whether the caller has the only reference to an array, in one of its variables."""
    return type(array) is np.ndarray and sys.getrefcount(array) <= _ALONE


_ALONE = _count_references() if COUNTS_LOCALS else 0
