"""Trace one call: substitute tracers for arrays, run the function, build the `Program` and its guards.

The result is a `Trace` (program, output template, writes to variables and containers) and the values that the function
read besides its arguments.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import AMBIENT
from gradtape.core.operation import Lifted
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor, Variable
from gradtape.jit.errors import Untraceable
from gradtape.jit.guards.captures import Survey
from gradtape.jit.guards.holders import array_behind
from gradtape.jit.guards.impure_reads import watch_impure_reads
from gradtape.jit.guards.rng import find_generators, random_states, rewinder
from gradtape.jit.guards.signature import CallArguments, Inline, Static
from gradtape.jit.guards.snapshot import Snapshot
from gradtape.jit.guards.substitute import Copies
from gradtape.jit.ir.program import NUMERIC_KINDS, Program, Value
from gradtape.jit.ir.results import Output, Template, Write
from gradtape.jit.passes.reroll.find import FoundLoops, find_detected_loops
from gradtape.jit.trace import fast_path
from gradtape.jit.trace.loops.scan_body import current_level
from gradtape.jit.trace.loops.scan_op import trace_scan_if_tracing
from gradtape.jit.trace.loops.while_op import trace_attempts_if_tracing
from gradtape.jit.trace.tracer import TracingLevel
from gradtape.jit.trace.tracers import TraceTensor, TraceVariable
from gradtape.loops.scan import register_tracer as register_scan_tracer
from gradtape.loops.while_loop import register_tracer as register_while_tracer

fast_path.bind()
register_scan_tracer(trace_scan_if_tracing)
register_while_tracer(trace_attempts_if_tracing, lambda values: current_level(values) is not None)
Function = Callable[..., Any]
RETRIES_AFTER_DRAWS = 3
"""How many more times to trace when random numbers were drawn and another thread may have drawn them."""
MIN_INSTRUCTIONS_TO_COLLAPSE = 400
"""Minimum number of instructions since the last search before a backward pass looks for loops to collapse."""


class TracedCall(NamedTuple):
    """What tracing a call gives: the program, and all that is needed to run it again."""

    survey: Survey
    """What the function reads besides its arguments: the guards."""
    program: Program
    template: Template
    """What the call returns, with places for the program's outputs."""
    writes: list[Write]
    """What the call changes besides: Variables, arrays in place, captured names."""
    generators: tuple[np.random.Generator, ...]
    """The random generators that the program draws from."""
    loops: FoundLoops | None
    """Loops that were found while the function was traced."""
    captured: list[Any]
    """The values of the captured arrays, tensors and Variables in this call."""
    unchecked: tuple[int, ...]
    """The leaves of the answer that are gradients which were not computed while tracing: the first run shows them."""
    hides_errors: bool
    """Whether NumPy may not have reported floating-point errors of this call, because samples were not computed."""


def trace_call(
    function: Function, static: Static, call: CallArguments, args: Any, kwargs: Any, workers: str
) -> TracedCall:
    """Trace a call.

    Raises `Untraceable` if the function draws random numbers. Another thread that draws from the same generators looks
    the same, so with other threads around the call is traced again: the function's own draws are at the same position
    in each attempt. Threads named `workers` never draw.
    """
    among_others, rewind, drawn_after = _has_other_threads(workers), None, None
    for attempt in range(1 + RETRIES_AFTER_DRAWS):
        try:
            draws = Draws(among_others, beside=attempt > 0, before=drawn_after)
            return _trace_once(function, static, call, args, kwargs, draws)
        except _RandomNumbersDrawn as drawn:
            rewind = rewind or drawn.rewind  # the first attempt saw the original generator states
            if not (among_others or _has_other_threads(workers)):
                break
            if attempt:  # the first one does not watch every operation
                drawn_after = drawn.after if drawn_after is None else drawn_after & drawn.after
    if rewind is not None:
        rewind()
    raise Untraceable(
        "it draws random numbers while it is traced, and they would be the same in every call. "
        "Draw them outside and pass them in"
    )


class _RandomNumbersDrawn(Exception):
    """Random numbers were drawn during a trace, by the function or possibly by another thread."""

    def __init__(self, rewind: Callable[[], None], after: set[int]) -> None:
        super().__init__()
        self.rewind = rewind  # restores the generator states from before the trace
        self.after = after  # the numbers of the operations behind which they were drawn


def _has_other_threads(workers: str) -> bool:
    """Whether threads may be running other than this one and those named `workers`."""
    helpers = {thread.ident for thread in threading.enumerate() if thread.name == workers}
    return any(thread not in helpers and thread != threading.get_ident() for thread in sys._current_frames())


class Draws(NamedTuple):
    """What is known about draws of random numbers while a function is traced, its own or of other threads."""

    among_others: bool
    """Whether there are other threads."""
    beside: bool
    """Whether an earlier attempt has found draws."""
    before: set[int] | None
    """The positions of the draws in earlier attempts."""


@contextmanager
def _undo_on_failure(survey: Survey) -> Iterator[None]:
    """If the block raises, all that the function reaches is as it was before: it will be run again, uncompiled."""
    snapshot = Snapshot(survey, ())
    try:
        yield
    except BaseException:
        snapshot.restore()
        raise


def _trace_once(
    function: Function, static: Static, call: CallArguments, args: Any, kwargs: Any, draws: Draws
) -> TracedCall:
    """One attempt to trace a call; see `trace_call`.

    Generators are rewound afterwards, because computing the answer draws the numbers again. They are not rewound when
    other threads draw from them.
    """
    state = recording.current()
    objects = [x for x in call.objects if not isinstance(x, types.ModuleType)]
    survey = Survey((function, objects) if objects else (function,), bool(state.bits & AMBIENT))
    survey.check()
    with recording.during(recording.Recording((), ambient=False)):
        level = TracingLevel()  # below all tapes: tapes record its tensors
    with _undo_on_failure(survey), recording.during(recording.Recording((), state.ambient, state.muted & AMBIENT)):
        level.numpy = _gives_numpy(call, survey)
        given: list[Any] = []
        for index, array in enumerate(call.arrays):
            variable = call.variables.get(index)
            given.append(level.new_input(array) if variable is None else level.new_variable(variable))
        received = [tensor.traced for tensor in given]
        found = [place.value for place in survey.leaves]
        copies = survey.substitute(_make_leaf_replacer(level, state.bits))
        inner = copies.root[0]
        replaced_args, replaced_kwargs = _replace_arguments(static, args, kwargs, given, copies)
        before = leaves((replaced_args, replaced_kwargs))
        keeper = survey.keeper(_is_tracer)
        rewind = rewinder(survey, objects, with_shared=not draws.among_others)
        if draws.beside:
            level.expect_draws_of_others()
        level.watch_generators(lambda: random_states(survey, objects))
        has_returned = False
        try:
            with level.activate(_collapse_loops), watch_impure_reads(survey.functions()) as readings:
                result = inner(*replaced_args, **replaced_kwargs)
            has_returned = True
        finally:
            level.note_draws()
            escaped = keeper.restore()
            drew = bool(level.drawn_after if draws.before is None else level.drawn_after & draws.before)
            if not (has_returned and (drew or draws.beside)):
                rewind()
            for generator, numbers in level.generators.items():
                generator.bit_generator.state = numbers
        if drew:
            raise _RandomNumbersDrawn(rewind, level.drawn_after)
        known = find_generators(survey, objects)
        if any(all(generator is not other for other in known) for generator in level.generators):
            raise Untraceable(
                "it makes a generator of random numbers, which would go on from call to call. Make it outside, and "
                "pass it in"
            )
        readings.check()
        if escaped is not None:
            raise Untraceable(f"it keeps a traced value in {escaped}; return it instead")
        after = leaves((replaced_args, replaced_kwargs))
        if len(before) != len(after) or any(a is not b for a, b in zip(before, after, strict=True)):
            raise Untraceable("it changes a list, dictionary or object that it was given; return a new one")
        writes = _collect_writes(given, received, copies, level)
    flat = leaves(result)
    outputs: list[Value] = []
    places = [_output_leaf(x, outputs, level) for x in flat]
    template = Template(rebuild(result, places), level.numpy)
    later = level.samples.make_checks(set(outputs))
    unchecked = [at for at, x in enumerate(flat) if isinstance(x, TraceTensor) and x.traced in later]
    values = [*outputs, *(tensor.traced for _, tensor in writes)]
    program = level.finish(values)
    changed = [write for write, _ in writes]
    loops = level.loops or find_detected_loops(program, level.detector.segments)
    generators, hides_errors = tuple(level.generators), level.samples.hides_errors
    return TracedCall(survey, program, template, changed, generators, loops, found, tuple(unchecked), hides_errors)


def _make_leaf_replacer(level: TracingLevel, bits: int) -> Callable[[Any], Any]:
    """How leaves are replaced: by new inputs of a trace. A tensor on one of the tapes in `bits` cannot be."""

    def replace(value: Any) -> TraceTensor | TraceVariable:
        if isinstance(value, Variable):
            return level.new_variable(value)
        if isinstance(value, Tensor) and (isinstance(value, Lifted) or value._node.bits & bits):
            raise Inline
        return level.new_input(array_behind(value))

    return replace


def _is_tracer(x: Any) -> bool:
    return isinstance(x, TraceTensor)


def _replace_arguments(static: Static, args: Any, kwargs: Any, given: list[Any], copies: Copies) -> tuple[Any, Any]:
    """The arguments with traced tensors substituted for arrays."""
    supply = iter(given)
    numbers = static.positions(len(args))

    def stand_in(x: Any) -> Any:
        if isinstance(x, Tensor | np.ndarray) or (isinstance(x, np.generic) and x.dtype.kind in NUMERIC_KINDS):
            return next(supply)
        return copies.of(x)

    def replace_leaves(tree: Any) -> Any:
        return rebuild(tree, [stand_in(x) for x in leaves(tree)])

    new_args = [copies.of(x) if number in numbers else replace_leaves(x) for number, x in enumerate(args)]
    new_kwargs = {n: copies.of(x) if n in static.names else replace_leaves(x) for n, x in kwargs.items()}
    return new_args, new_kwargs


def _collect_writes(
    given: list[Any], received: list[Value], copies: Copies, level: TracingLevel
) -> list[tuple[Write, Any]]:
    """The writes of the call: each location, and the traced tensor with the new value."""
    found: list[tuple[Write, Any]] = []
    for index, (tensor, value) in enumerate(zip(given, received, strict=True)):
        if tensor.traced is not value:
            found.append((Write("argument", index, in_place=_is_array(tensor)), tensor))
    for index, tensor in copies.assigned_leaves():
        found.append((Write("captured", index, in_place=_is_array(tensor)), tensor))
    for original, key, value in copies.changes():
        if isinstance(value, TraceTensor):
            found.append((Write("bind", original, key), value))
        elif any(isinstance(x, TraceTensor) for x in leaves(value)):
            raise Untraceable(f"it keeps a structure of traced values in {key!r}; return it instead")
        elif isinstance(original, types.CellType):
            original.cell_contents = value
        else:
            original[key] = value
    return found


def _gives_numpy(call: CallArguments, survey: Survey) -> bool:
    if call.arrays:
        return not call.tensors
    return not any(isinstance(place.value, Tensor) for place in survey.leaves)


def _collapse_loops(level: TracingLevel, *walked: Any) -> Callable[[], None] | None:
    """Hook of the backward pass: collapse loops in the graph if enough was traced since the last search."""
    if len(level.instructions) - level.searched < MIN_INSTRUCTIONS_TO_COLLAPSE:
        return None
    from gradtape.jit.trace.loops.backward import collapse_loops  # lazy: most traces are short

    return collapse_loops(level, MIN_INSTRUCTIONS_TO_COLLAPSE, *walked)


def _is_array(tensor: Any) -> bool:
    return type(tensor) is not TraceVariable


def _output_leaf(x: Any, outputs: list[Value], level: TracingLevel) -> Any:
    """The leaf of the output template for `x`: an `Output` index for a traced value or an array, else `x` itself."""
    if isinstance(x, TraceVariable):
        return x.original
    if isinstance(x, TraceTensor) and x.level is level:
        outputs.append(x.traced)
    elif isinstance(x, Variable):
        return x
    elif isinstance(x, Tensor):
        outputs.append(level.constant(x._array))
    elif isinstance(x, np.ndarray | np.generic) and x.dtype.kind in NUMERIC_KINDS:
        if level.numpy and isinstance(x, np.generic):
            return x  # NumPy scalars are immutable
        outputs.append(level.constant(x))
    else:
        if isinstance(x, Iterator) or type(x).__hash__ is None:
            raise Untraceable(
                f"it returns a {type(x).__name__}, which would be the same one in each call; return a list or a tuple"
            )
        return x
    return Output(len(outputs) - 1)
