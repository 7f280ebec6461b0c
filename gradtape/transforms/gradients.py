"""Functions in, functions out: grad, value_and_grad, vjp, jvp, linearize.

All use `record_call`: it runs a function on tracked copies of its arguments, and what it returns can be pulled back
(reverse) and pushed through (forward) as often as needed. Arguments and results are nested structures throughout.
NumPy in, NumPy out; tensors in, tensors out.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import recording
from gradtape.core.backprop import walk
from gradtape.core.explain_hooks import NanOrigins, any_zero_or_nonfinite, is_nan, observers, suspects
from gradtape.core.forward import ForwardAccumulator, check_tangent, judge_departures, push_tangents
from gradtape.core.graph import AMBIENT, LIFTED, UNTRACKED, Node, sample_of
from gradtape.core.location import Location, is_library
from gradtape.core.operation import attach
from gradtape.core.pytree import aligned, children, leaves, map_structure, named_leaves, rebuild
from gradtape.core.references import is_viewed_otherwise
from gradtape.core.tape import GradientTape, check_seed, copy_if_lent
from gradtape.core.tensor import Tensor, check_differentiable, is_tracked, tensor
from gradtape.errors import OperandError
from gradtape.explain import messages
from gradtape.ops import identity

if TYPE_CHECKING:
    from gradtape.explain.queries.why import Why

Function = Callable[..., Any]


class RecordedCall:
    """One run of a function: its tracked arguments, its results, and the graph between them."""

    def __init__(
        self, function: Function, numbers: list[int], chosen: list[Any], call: Callable[[list[Any]], Any]
    ) -> None:
        self.name = getattr(function, "__name__", "the function")
        self.function, self.numbers, self.chosen = function, numbers, chosen
        self.tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self.tape.is_private = True
        self.given = [leaf for argument in chosen for leaf in leaves(argument)]
        self.sources = [self._tracked_copy(index) for index in range(len(self.given))]
        self.nodes = [source._node for source in self.sources]  # the function may write to the tensors
        self.held = {source._node: source._array for source in self.sources}
        self.was_numpy = not any(isinstance(leaf, Tensor) for leaf in self.given)
        supply = iter(self.sources)
        arguments = [rebuild(argument, [next(supply) for _ in leaves(argument)]) for argument in chosen]
        with self.tape:
            self.result = call(arguments)

    def _tracked_copy(self, index: int) -> Tensor:
        """A new place on the graph for a source, so that two derivatives of the same tensor do not meet."""
        value = self.given[index]
        fresh = _fresh(value)
        if fresh.dtype.kind not in "fc":
            check_differentiable(fresh.dtype, self.source_name(index), fresh.shape)
        self.tape.watch(fresh)
        return fresh

    def source_name(self, index: int) -> str:
        """How messages speak of a source."""
        return f"{argument_name(self.function, dict(zip(self.numbers, self.chosen)), index)} of {self.name}"

    def pull_back(self, outputs: list[Any], cotangents: list[Any], last: bool = False) -> list[Any]:
        """The cotangents of the sources, None where there is no path."""
        seeds = [(o._node, c) for o, c in zip(outputs, cotangents, strict=True) if isinstance(o, Tensor)]
        visited: list[Node] | None = [] if last else None  # the recording dies with this run: only values are let go
        values = [o._array for o in outputs if isinstance(o, Tensor)]
        nan_origins = NanOrigins(values)
        nodes, recorded = self.nodes, _attach_for(outputs)
        self.tape.sources_asked = (nodes, self._named_arguments()) if observers else None
        found = walk(seeds, self.tape.bit, sources=nodes, attach=recorded, visited=visited, nan_origins=nan_origins)
        gradients = [found.get(node) for node in nodes]
        self.tape.sources_asked = None
        if found and (suspects or nan_origins or any_zero_or_nonfinite(gradients) or (last and is_nan(values))):
            from gradtape.explain.kernel.examine import examine

            examine(
                seeds, self.tape.bit, list(zip(nodes, gradients)), values, nan_origins, (), self.held, judges_zeros=last
            )
        return gradients

    def _named_arguments(self) -> Any:
        """The structure of the sources; arguments have their names, but for one that is a structure itself."""
        if len(self.chosen) == 1 and children(self.chosen[0]):
            return self.chosen[0]
        names = _parameter_names(self.function)
        return {names[n] if n < len(names) else f"argument {n}": x for n, x in zip(self.numbers, self.chosen)}

    def report_nonfinite(self) -> None:
        """Report where NaN and infinity are made on the way, as a gradient would; for tangents that are not finite."""
        outputs = [o for o in leaves(self.result) if isinstance(o, Tensor) and o._node.bits & self.tape.bit]
        with np.errstate(all="ignore"):
            self.pull_back(outputs, [np.ones(o.shape, o.dtype) for o in outputs])

    def push(self, outputs: list[Any], tangents: list[Any]) -> list[Any]:
        """The tangents of the outputs, None where there is no path."""
        targets = [o._node if isinstance(o, Tensor) else UNTRACKED for o in outputs]
        seeds = dict(zip(self.nodes, tangents, strict=True))
        if suspects:
            judge_departures(targets, self.tape.bit)
        return push_tangents(targets, seeds, self.tape.bit, _attach_for(outputs))

    def as_given(self, values: list[Any]) -> list[Any]:
        """`values`, one for each source, as arrays where the source was one and as tensors otherwise."""
        seen: set[int] = set()
        return [hand_out(v, not isinstance(given, Tensor), seen) for v, given in zip(values, self.given, strict=True)]

    def in_structure(self, values: list[Any]) -> list[Any]:
        """`values`, one for each source, in the structures of the chosen arguments."""
        supply = iter(values)
        return [rebuild(argument, [next(supply) for _ in leaves(argument)]) for argument in self.chosen]

    def why_unconnected(self, output: Any, index: int) -> Why:
        """Why an output does not depend on a source."""
        return self.tape.why(output, self.sources[index])


def _fresh(value: Any) -> Tensor:
    """A value at a new place in the graph: a number stays one, which `x += 1` does not write to, an array an array."""
    if not isinstance(value, Tensor):
        made = tensor(value)
        return Tensor(made._array[()]) if isinstance(value, (float, complex, np.generic)) else made
    if value.dtype.kind not in "fc":
        return value
    placed: Tensor = identity(value)
    if not placed.shape and not value._is_number():
        placed._hold_array()
    return placed


def _attach_for(outputs: Sequence[Any]) -> Any:
    """Whether what is computed now will be recorded by someone, and so has to be computed with tensors."""
    bits = recording.current().bits
    ambient = any(isinstance(o, Tensor) and o._node.bits & AMBIENT for o in outputs)
    return attach if bits & ~AMBIENT or (ambient and bits & AMBIENT) else None


def hand_out(value: Any, as_numpy: bool, seen: set[int], kept: bool = False) -> Any:
    """A result for the user: nobody else's memory, and plain NumPy if that is what came in.

    `kept` says that the graph lives on, which may have saved this very array.
    """
    if isinstance(value, Tensor):
        if not as_numpy or type(value) is not Tensor or is_tracked(value):
            return value
        value = value._array
    if not as_numpy:
        return Tensor(value)
    if isinstance(value, np.ndarray) and value.ndim:
        viewed = is_viewed_otherwise(value)
        shared = kept or viewed or not value.flags.writeable or id(value) in seen
        value = value.copy() if shared else value
        seen.add(id(value))
        return value
    return value[()] if isinstance(value, np.ndarray) else value


def check_function(function: Any, what: str) -> None:
    """Raise unless `function` can be called: a value has no history that a transform could run again."""
    if not callable(function):
        kind = type(function).__name__
        raise OperandError(
            f"{what} takes a function; it was given a {kind}.\n{Location.here().show()}\n"
            f"  fix: gt.{what}(f), where f is the function that computes the value;\n"
            f"       for a value that was computed already, tape.gradient(value, x) or value.backward()"
        )


def check_argnums(what: str, argnums: Any) -> None:
    """Raise unless `argnums` is the number of an argument or several: where the transform is written, not called."""
    if not isinstance(argnums, (int, np.integer)):
        several = isinstance(argnums, Sequence | Set) or (isinstance(argnums, np.ndarray) and argnums.ndim == 1)
        if not several or not all(isinstance(number, (int, np.integer)) for number in argnums):
            raise messages.not_argnums(what, argnums)


def choose_arguments(function: Function, args: tuple[Any, ...], argnums: int | Sequence[int]) -> tuple[list[int], bool]:
    """The numbers of the chosen arguments, and whether `argnums` is a single one; raises if one is missing."""
    single = isinstance(argnums, (int, np.integer))
    numbers = [argnums] if isinstance(argnums, (int, np.integer)) else list(argnums)
    name = getattr(function, "__name__", "the function")
    for number in numbers:
        if not isinstance(number, (int, np.integer)) or not -len(args) <= number < len(args):
            raise messages.wrong_argnums(argnums, name, len(args))
    return [int(number) % len(args) for number in numbers], bool(single)


def record_call(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: list[int]) -> RecordedCall:
    """Run a function with the arguments of these numbers recorded on a tape of its own."""

    def call(chosen: list[Any]) -> Any:
        full = list(args)
        for number, value in zip(numbers, chosen, strict=True):
            full[number] = value
        return function(*full, **kwargs)

    return RecordedCall(function, numbers, [args[number] for number in numbers], call)


def value_and_grad(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """A function that returns the value of `function` and its gradient with respect to the arguments `argnums`.

    `function` returns one number (or, with `has_aux`, a pair of one number and anything else). The gradient has the
    structure, shapes and dtypes of the argument.

    >>> import numpy as np, gradtape as gt
    >>> value, gradient = gt.value_and_grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (5.0, array([2., 4.]))
    """
    check_function(function, "value_and_grad")
    check_argnums("value_and_grad", argnums)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        numbers, single = choose_arguments(function, args, argnums)
        run = record_call(function, args, kwargs, numbers)
        returned, aux = _split_aux(run.result, has_aux, run.name, run.was_numpy)
        output = as_scalar(returned, run.name)
        seed = np.ones(output.shape, output.dtype)
        found = run.pull_back([output], [seed], last=True) if isinstance(output, Tensor) else [None] * len(run.sources)
        warn_unused(run, returned, found)
        filled = [np.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(found, run.sources, strict=True)]
        gradients = run.in_structure(run.as_given(filled))
        value = hand_out(output, run.was_numpy, set())
        answer = gradients[0] if single else tuple(gradients)
        return ((value, aux), answer) if has_aux else (value, answer)

    return wrapped


def grad(function: Function, argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Function:
    """A function that returns the gradient of `function`; with `has_aux`, the pair of gradient and aux.

    >>> import numpy as np, gradtape as gt
    >>> gt.grad(lambda x: np.sum(np.sin(x)))(np.zeros(2))
    array([1., 1.])
    >>> gt.grad(gt.grad(lambda x: x ** 3))(2.0)
    np.float64(12.0)
    """
    check_function(function, "grad")
    check_argnums("grad", argnums)
    with_value = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value, gradient = with_value(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


def _split_aux(result: Any, has_aux: bool, name: str, as_numpy: bool) -> tuple[Any, Any]:
    """The value and what came with it, whose tensors are handed out like the value."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise messages.not_a_pair(name, result)
    return result[0], map_structure(
        lambda x: hand_out(x, as_numpy, set(), kept=True) if isinstance(x, Tensor) else x, result[1]
    )


def _outputs(result: Any, name: str) -> list[Any]:
    outputs = leaves(result)
    if any(output is None for output in outputs):
        raise messages.returned_none(name)
    return outputs


def as_scalar(output: Any, name: str) -> Any:
    """What a function returned, if it is one number; raises if it is None, a container or several numbers."""
    if output is None:
        raise messages.returned_none(name)
    if not isinstance(output, Tensor):
        if children(output) is not None:
            raise messages.returned_no_number(name, output)
        try:
            output = np.asarray(output, dtype=np.result_type(output, np.float32) if not np.isscalar(output) else float)
        except (TypeError, ValueError):
            raise messages.returned_no_number(name, output) from None
    if output.size != 1:
        raise messages.returned_many(name, output)
    check_differentiable(output.dtype, f"the value of {name}", output.shape)
    return output


def warn_unused(run: RecordedCall, output: Any, found: list[Any]) -> None:
    """Say why `output` does not depend on a source for which nothing was `found`; its derivative is zeros then."""
    unused = [i for i, gradient in enumerate(found) if gradient is None and run.sources[i].size]
    if unused:
        from gradtape.explain.emit import withhold
        from gradtape.explain.emit.policy import is_due, report

        withheld = withhold.current.get()
        if not is_due("GT201") and (withheld is None or not withheld.wants("GT201")):
            return  # the reason is found by a search for names, which takes longer than most gradients
        reason, shape = run.why_unconnected(output, unused[0]), run.sources[unused[0]].shape
        used = [run.source_name(i) for i, gradient in enumerate(found) if gradient is not None]
        report(messages.unused_argument(run.source_name(unused[0]), shape, used, reason, Location.here()))


def argument_name(function: Function, arguments: Mapping[int, Any], index: int) -> str:
    """How messages speak of a leaf of the `arguments` of a function, which have names or numbers.

    >>> argument_name(lambda p, x: None, {0: {"w": 1.0, "b": 2.0}, 1: 3.0}, 1)
    "argument 0['b'] (p)"
    >>> argument_name(lambda x: None, {0: 3.0}, 0)
    'the argument'
    """
    named = [
        (number, name) for number, tree in arguments.items() for name, _ in named_leaves(tree, f"argument {number}")
    ]
    number, called = named[index]
    names = _parameter_names(function)
    if called == "argument 0" and len(names) < 2 and len(arguments) == 1:
        return "the argument"
    return f"{called} ({names[number]})" if number < len(names) else called


def _parameter_names(function: Function) -> list[str]:
    """The names of the positional parameters of a function; functions of NumPy's have none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]


def none_recorded(outputs: list[Any], bit: int) -> bool:
    """Whether there are results, and none of them was recorded: a derivative is zero for want of any path."""
    tensors = [o for o in outputs if isinstance(o, Tensor) and sample_of(o) is o]  # others are traced, and on no tape
    return bool(outputs) and not any(o._node.bits & (bit | LIFTED) for o in tensors)


def called_by_user() -> bool:
    """Whether the caller was called by a user, who may be surprised, and not by code that knows what to expect.

    By way of `jit`, as it may be: a compiled function is called as the function itself.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_JIT):
        frame = frame.f_back
    return frame is not None and not is_library(frame.f_code.co_filename)


_JIT = os.path.join(os.path.dirname(os.path.dirname(__file__)), "jit", "")


def vjp(function: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value of `function` at `primals`, and the function that pulls cotangents of the value back to them.

    >>> import numpy as np, gradtape as gt
    >>> value, pull_back = gt.vjp(np.sin, np.array([0.0, 1.0]))
    >>> pull_back(np.array([1.0, 0.0]))
    (array([1., 0.]),)
    """
    check_function(function, "vjp")
    run = record_call(function, primals, {}, list(range(len(primals))))
    result, aux = _split_aux(run.result, has_aux, run.name, run.was_numpy)
    outputs = _outputs(result, run.name)

    def pull_back(cotangents: Any) -> tuple[Any, ...]:
        given = aligned(result, cotangents, "the value", "the cotangents", arrays=True)
        pairs = [(c, o) for c, o in zip(given, outputs, strict=True) if isinstance(o, Tensor)]
        seeds = [check_seed(c, o, "cotangents", lend=True) for c, o in pairs]
        found = [copy_if_lent(g, seeds) for g in run.pull_back([o for _, o in pairs], seeds)]
        if none_recorded(outputs, run.tape.bit) and called_by_user():
            warn_unused(run, outputs[0], found)
        filled = [np.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(found, run.sources, strict=True)]
        return tuple(run.in_structure(run.as_given(filled)))

    value = map_structure(lambda o: hand_out(o, run.was_numpy, set(), kept=True), result)
    return (value, pull_back, aux) if has_aux else (value, pull_back)


def linearize(function: Function, *primals: Any) -> tuple[Any, Function]:
    """The value of `function` at `primals`, and its derivative there as a linear function of tangents.

    The function runs once; the linear function can be called many times.

    >>> import numpy as np, gradtape as gt
    >>> value, push = gt.linearize(np.sin, np.array([0.0, 1.0]))
    >>> push(np.array([1.0, 0.0]))
    array([1., 0.])
    """
    check_function(function, "linearize")
    run = record_call(function, primals, {}, list(range(len(primals))))
    outputs = _outputs(run.result, run.name)

    def push(*tangents: Any) -> Any:
        seeds = _checked_tangents(primals, tangents, run.sources)
        pushed = run.push(outputs, seeds)
        if none_recorded(outputs, run.tape.bit) and called_by_user():
            warn_unused(run, outputs[0], [None] * len(seeds))
        if _is_spoilt(pushed):
            run.report_nonfinite()
        return _tangent_structure(run.result, outputs, pushed, run.was_numpy)

    return map_structure(lambda o: hand_out(o, run.was_numpy, set(), kept=True), run.result), push


def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The value of `function` at `primals`, and its derivative in the direction `tangents`, in one forward pass.

    >>> import numpy as np, gradtape as gt
    >>> gt.jvp(np.sin, (np.array([0.0]),), (np.array([2.0]),))
    (array([0.]), array([2.]))
    """
    check_function(function, "jvp")
    if not isinstance(primals, (list, tuple)) or not isinstance(tangents, (list, tuple)):
        raise messages.not_tuples(primals, tangents)
    given = [leaf for primal in primals for leaf in leaves(primal)]
    was_numpy = not any(isinstance(leaf, Tensor) for leaf in given)
    sources = [_fresh(x) for x in given]
    seeds = _checked_tangents(primals, tangents, sources)
    with ForwardAccumulator(sources, seeds) as accumulator:
        supply = iter(sources)
        result = function(*(rebuild(primal, [next(supply) for _ in leaves(primal)]) for primal in primals))
    name = getattr(function, "__name__", "the function")
    result, aux = _split_aux(result, has_aux, name, was_numpy)
    outputs = _outputs(result, name)
    pushed = [accumulator.jvp(o) if isinstance(o, Tensor) else None for o in outputs]
    if sources and none_recorded(outputs, accumulator.bit) and called_by_user():
        from gradtape.explain.emit.policy import report
        from gradtape.explain.queries.why import why

        which = f"{argument_name(function, dict(enumerate(primals)), 0)} of {name}"
        reason = why(outputs[0], sources[0], accumulator.bit)
        report(messages.unused_argument(which, sources[0].shape, (), reason, Location.here()))
    if _is_spoilt(pushed):  # nothing of the way is left to look at: go it again
        record_call(function, tuple(primals), {}, list(range(len(primals)))).report_nonfinite()
    value = map_structure(lambda o: hand_out(o, was_numpy, set()), result)
    tangent = _tangent_structure(result, outputs, pushed, was_numpy)
    return (value, tangent, aux) if has_aux else (value, tangent)


def _is_spoilt(pushed: list[Any]) -> bool:
    """Whether NaN or infinity is in what was pushed forward; what is on another tape is that tape's matter."""
    arrays = [t._array if type(t) is Tensor and not is_tracked(t) else t for t in pushed]
    return any_zero_or_nonfinite(arrays) and not all(
        np.isfinite(t).all() for t in arrays if isinstance(t, (np.ndarray, np.generic))
    )


def _checked_tangents(primals: Any, tangents: Any, sources: list[Tensor]) -> list[Any]:
    given = aligned(tuple(primals), tuple(tangents), "primals", "tangents", arrays=True)
    return [check_tangent(t, source) for t, source in zip(given, sources, strict=True)]


def _tangent_structure(result: Any, outputs: list[Any], pushed: list[Any], as_numpy: bool) -> Any:
    filled = [
        np.zeros(np.shape(o), getattr(o, "dtype", float)) if t is None else t
        for o, t in zip(outputs, pushed, strict=True)
    ]
    return rebuild(result, [hand_out(t, as_numpy, set()) for t in filled])
