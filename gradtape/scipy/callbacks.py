"""Functions of the user's that SciPy calls: SciPy gets numbers, whatever tensors they read; derivatives follow later.

A solver of SciPy's runs on plain arrays. The functions that it calls may read tensors: their arguments, or names of the
code around them. `Run` takes the numbers out of what they return, in `vmap` those of one example, or of all at once.
What was found is differentiated afterwards, by calling the functions once more with everything recorded: `solution`
for the root of an equation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import LinearAlgebraError, OperandError, UnsupportedError
from gradtape.extend import (
    BatchTensor,
    Lifted,
    Tensor,
    Untraceable,
    array_of,
    call_outside,
    current_recording,
    is_followed,
    leaves,
    messages,
    number_in_trace,
    numbers_if_known,
    off_tape,
    report,
    solver_error,
    trace_callback,
    use_recording,
)
from gradtape.mirror import holds_tensor, is_nested
from gradtape.ops import stack, where
from gradtape.transforms.jacobians import jacobian

Function = Callable[..., Any]

UNKNOWNS_AT_MOST = 2000
"""Unknowns for which the Jacobian at a solution is built."""


def stacked(value: Any) -> Any:
    """`value`, with sequences that hold tensors as one tensor, as NumPy makes arrays of nested lists.

    >>> import gradtape as gt
    >>> stacked([gt.tensor(1.0), [2.0][0]])
    Tensor([1., 2.])
    """
    if not is_nested(type(value)) or not holds_tensor(value):
        return value
    parts = [stacked(part) for part in value]
    return stack([part if isinstance(part, Tensor) else np.asarray(part) for part in parts])


def vector(value: Any) -> Any:
    """An array, tensor or nesting of both as a vector; a number has one element."""
    value = stacked(value)
    value = value if isinstance(value, Tensor) else np.asarray(value)
    return value.reshape((-1,))


def as_tuple(args: Any) -> tuple[Any, ...]:
    """`args=` as SciPy takes it: a tuple, or one argument that is none."""
    return args if isinstance(args, tuple) else (args,)


class _AnotherBatch(Exception):
    """A value belongs to a `vmap` that was not known of."""

    def __init__(self, level: Any) -> None:
        super().__init__()
        self.level = level


class _InTrace(Exception):
    """A value belongs to a program that is being traced, which was not known of."""


class Run:
    """One call of a function of SciPy's with functions of the user's; `given` are the arguments that may be tensors.

    Inside `jit`, with `traces`, SciPy's function is called whenever the compiled program runs. The user's functions are
    programs then (`trace_callback`); what they read from outside, and the tensors among the arguments, are inputs of
    one operation that calls SciPy.
    """

    def __init__(
        self, title: str, *given: Any, uncompiled: str = "whose steps depend on the numbers", traces: bool = False
    ) -> None:
        """`uncompiled` says why `jit` does not compile a call of the function, unless it `traces`."""
        self.title, self.uncompiled, self.traces = title, uncompiled, traces
        self.is_traced = False
        self.read: list[Any] = []
        """The tensors of the program that is being traced which SciPy needs the numbers of."""
        self._local = threading.local()  # their numbers, while SciPy runs
        self._solver: Callable[[], Any] | None = None
        self.levels: list[Any] = []  # of `vmap`, from the outermost
        self.example: tuple[int, ...] = ()
        self.is_followed = False
        """Whether anything that came along is recorded, or belongs to a batch."""
        try:
            self.note_all(given)
        except _InTrace:
            self.note_all(given)

    def note_all(self, values: Any) -> None:
        """Look at all tensors in nested lists, tuples and dicts."""
        for leaf in leaves(values):
            self.note(leaf)

    def note(self, value: Any) -> None:
        """Look whether a value is followed, and to which batches it belongs."""
        if not isinstance(value, Tensor):
            return
        if is_followed(value):
            self.is_followed = True
        while isinstance(value, BatchTensor):
            if value.level not in self.levels:
                self.levels = sorted([*self.levels, value.level], key=lambda level: level.depth)
            value = value.value
            self.is_followed = self.is_followed or is_followed(value)
        if not isinstance(value, Lifted):
            return
        if not self.traces or self.levels:
            raise Untraceable(f"it calls {self.title}, {self.uncompiled}")
        if not self.is_traced:
            self.is_traced = True
            raise _InTrace

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the batches."""
        return tuple([level.size for level in self.levels])

    def numbers(self, value: Any) -> Any:
        """The numbers of a value, in the present example."""
        value = stacked(value)
        if not isinstance(value, Tensor):
            return value
        known = len(self.levels)
        self.note(value)
        value = off_tape(value)
        if isinstance(value, Lifted) and self.is_traced:
            place = self._place(value)
            return self._numbers_now()[place]
        if len(self.levels) > known:
            raise _AnotherBatch(self.levels[-1])
        while isinstance(value, BatchTensor):
            value = off_tape(value.value[self.example[self.levels.index(value.level)]])
        return array_of(value) if isinstance(value, Tensor) else value

    def all_numbers(self, value: Any) -> Any:
        """The numbers of a value in all examples, along axes in front; a value of a program that is traced as it is."""
        value = stacked(value)
        self.note(value)
        value = off_tape(value)
        if self.is_traced:
            return value
        shape = np.shape(value)
        present = []
        while isinstance(value, BatchTensor):
            present.append(value.level)
            value = value.value
        array = np.asarray(array_of(value) if isinstance(value, Tensor) else value)
        axes = tuple([axis for axis, level in enumerate(self.levels) if level not in present])
        return np.broadcast_to(np.expand_dims(array, axes), (*self.sizes, *shape))

    def lifted(self, array: Any) -> Any:
        """An array with the examples along axes in front, as a value of the batches."""
        for level in self.levels:
            array = BatchTensor(array, level)
        return array

    def function(self, function: Any) -> Any:
        """A function of the user's that returns numbers; None and whatever is no function as it is."""
        if not callable(function) or isinstance(function, type):
            return function
        traced: dict[Any, Any] = {}

        def numbers(*args: Any, **named: Any) -> Any:
            if not self.is_traced:
                return self.numbers(function(*args, **named))
            given = [np.asarray(x) for x in args]
            kind = tuple([(x.shape, x.dtype) for x in given])
            if kind not in traced:
                if hasattr(self._local, "values"):
                    raise solver_error(
                        UnsupportedError,
                        f"{self.title}: its function is called with {describe_arguments(given)}, which was not so "
                        "when it was compiled.",
                        "call it outside of gt.jit",
                    )
                callback = trace_callback(self.title, lambda *x: stacked(function(*x, **named)), given)
                traced[kind] = callback, [self._place(x) for x in callback.read]
            callback, places = traced[kind]
            values = self._numbers_now()
            return callback(given, [values[place] for place in places])

        return numbers

    def solve(self, solver: Callable[[], Any]) -> Any:
        """What `solver()` returns; in a batch a list of this for all examples, each in turn the present one."""
        self._solver = solver
        while True:
            try:
                if not self.levels:
                    return solver()
                found = []
                for example in np.ndindex(*self.sizes):
                    self.example = example
                    found.append(solver())
                return found
            except (_AnotherBatch, _InTrace):
                continue

    def _place(self, tensor: Any) -> int:
        """The place of a tensor among those that SciPy needs the numbers of."""
        tensor = off_tape(tensor)
        for place, known in enumerate(self.read):
            if known is tensor or (isinstance(tensor, Lifted) and _traced(known) is _traced(tensor)):
                return place
        self.read.append(tensor)
        return len(self.read) - 1

    def _numbers_now(self) -> Any:
        """The numbers of what is read: those of this run of the compiled program, or of the call that is traced."""
        found = getattr(self._local, "values", None)
        return [np.asarray(number_in_trace(x)) for x in self.read] if found is None else found

    def _run_again(self, part: Callable[[Any], Sequence[Any]]) -> list[Any]:
        """Parts of what SciPy's function returns in each run of the compiled program."""
        assert self._solver is not None
        solver, local = self._solver, self._local

        def compute(*values: Any) -> list[Any]:
            local.values = values
            try:
                return [np.asarray(x) for x in part(solver())]
            finally:
                del local.values

        return call_outside(self.title, compute, self.read)

    def fields(self, found: Any, part: Callable[[Any], Any] = lambda found: found) -> Any:
        """A result of SciPy's, an `OptimizeResult`, with numbers that are those of each run of a compiled program.

        `part` takes it out of what the solver returns.
        """
        found = part(found)
        if not self.is_traced:
            return found
        names = [name for name, value in found.items() if _is_numeric(value)]
        values = self._run_again(lambda solved: [part(solved)[name] for name in names])
        for name in list(found):
            if name not in names:
                del found[name]
        found.update(zip(names, values, strict=True))
        return found

    def gathered(self, found: Any, part: Callable[[Any], Any]) -> Any:
        """A part of what `solve` returned, as an array or as a value of the batches."""
        if self.is_traced:
            return self._run_again(lambda found: [part(found)])[0]
        if not self.levels:
            return part(found)
        rows = np.stack([np.asarray(part(each)) for each in found])
        return self.lifted(rows.reshape(*self.sizes, *rows.shape[1:]))

    def refuse_batches(self, what: str, fix: str) -> None:
        """Raise if there is a batch."""
        if self.levels:
            raise solver_error(UnsupportedError, f"{self.title}: {what} cannot be mapped over by gt.vmap.", fix)


def _traced(value: Any) -> Any:
    """The value of the program that a tensor of a trace stands for."""
    return getattr(value, "traced", None)


def _is_numeric(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "fiub"
    )


def describe_arguments(given: Sequence[Any]) -> str:
    """The shapes of arguments, for a message."""
    return "arguments of shape " + ", ".join(str(x.shape) for x in given)


def with_value(moving: Any, value: Any) -> Any:
    """`value`, with the derivative of `moving`."""
    return value + (moving - off_tape(moving)) if isinstance(moving, Tensor) else value


def solution(condition: Function, x: Any, title: str, polish: bool = True) -> Any:
    """The vector `x`, a root of `condition`, with the derivative of that root by whatever the condition reads.

    x(a) with F(x, a) = 0 is found by Newton's method with a fixed Jacobian J: x - J^-1 F(x, a). Each step of it, taken
    at the root with everything recorded, makes the derivatives right to one order more, in any mode. There are two
    steps more than recorders that are on.

    With `polish` the Jacobian is taken where the condition holds exactly, which is near `x` if the solver has stopped
    early; the value is `x` all the same.
    """
    value = condition(x)
    if not is_followed(value):
        return x
    if value.dtype.kind == "c" or x.dtype.kind == "c":
        raise solver_error(
            UnsupportedError,
            f"{title}: the unknowns are complex, and read tensors with a gradient.",
            "real and imaginary parts as two real unknowns",
        )
    if value.shape != x.shape:
        raise solver_error(
            OperandError,
            f"{title}: there are {value.shape} values for unknowns of shape {x.shape}, which do not determine them.",
            "as many equations as unknowns",
        )
    if x.size > UNKNOWNS_AT_MOST:
        raise solver_error(
            UnsupportedError,
            f"{title}: {x.size} unknowns; up to {UNKNOWNS_AT_MOST} are differentiated.",
            "gt.optimize.root, which solves the linear systems without a matrix",
        )
    at = off_tape(x)
    if numbers_if_known(at) is None or numbers_if_known(off_tape(value)) is None:
        return _traced_solution(condition, at, polish)
    for number in range(4 if polish else 1):
        with use_recording(current_recording().mute(True)):
            inverse = _inverse(off_tape(jacobian(condition)(at)), title)
            step = inverse @ off_tape(condition(at)) if polish else None
        if step is None or not _is_small(step, at, 1e-2):
            if step is not None and number == 0 and np.any(numbers_if_known(step)):
                _report_distance(step, title)
            break
        at = at - step
        if _is_small(step, at, 1e-12):
            break
    moving = at
    for _ in range(len(current_recording().recorders) + 2):
        residual = condition(moving)
        moving = moving - inverse @ (residual - off_tape(residual))
    return with_value(moving, off_tape(x))


def _traced_solution(condition: Function, x: Any, polish: bool) -> Any:
    """The same in a program that is being traced, where nothing can depend on the numbers."""
    with use_recording(current_recording().mute(True)):
        at = x
        inverse = np.linalg.inv(off_tape(jacobian(condition)(at)))
        if polish:  # once, where it is a short way
            step = inverse @ off_tape(condition(at))
            is_near = np.max(np.abs(step)) <= 1e-2 * np.max(np.abs(at) + 1e-3)
            at = off_tape(where(is_near, at - step, at))
            inverse = np.linalg.inv(off_tape(jacobian(condition)(at)))
    moving = at
    for _ in range(len(current_recording().recorders) + 2):
        residual = condition(moving)
        moving = moving - inverse @ (residual - off_tape(residual))
    return with_value(moving, x)


def _report_distance(step: Any, title: str) -> None:
    """Warn of a solution at which its condition does not hold: its derivative is of something else then."""
    size = float(np.abs(numbers_if_known(step)).max())
    report(
        messages.problem(
            "GT406",
            f"{title}: the solution does not satisfy its condition: a step of Newton's method would move it by "
            f"{size:.1e}",
            consequence="the derivative is that of the condition, and so not that of the value",
            fixes="let the solver run longer, or to a smaller tolerance",
        )
    )


def _is_small(step: Any, at: Any, tolerance: float) -> bool:
    sizes, scale = np.abs(numbers_if_known(step)), np.abs(numbers_if_known(at))
    return bool(np.all(sizes <= tolerance * np.maximum(scale, 1e-3 + scale.mean()))) and bool(np.any(sizes))


def _inverse(matrix: Any, title: str) -> Any:
    """The inverse of the Jacobian at a solution; raises where it is singular."""
    numbers = np.asarray(numbers_if_known(matrix))
    fix = "add the equation, penalty or bound that makes the solution unique"
    if not np.isfinite(numbers).all():
        raise solver_error(
            LinearAlgebraError,
            f"{title}: the Jacobian at the solution has elements that are NaN or infinite.",
            "a solution where the function is smooth",
        )
    with np.errstate(all="ignore"):
        bad = np.linalg.cond(numbers) * np.finfo(numbers.dtype).eps > 0.1
    if np.any(bad):
        raise solver_error(
            LinearAlgebraError,
            f"{title}: the Jacobian at the solution is singular, so the solution is no smooth function of what it "
            f"depends on.",
            fix,
        )
    return np.linalg.inv(matrix)
