"""Questions about functions of JAX: why a gradient is what it is, and whether examples of a batch are independent.

An array of JAX does not know what it was computed from; a function that computes it does. It is traced once, and what
is recorded of it answers.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import tree_flatten, tree_leaves

from gradtape.errors import OperandError
from gradtape.explain.detectors import missing_gradient
from gradtape.explain.graph import paths
from gradtape.explain.graph.cuts import code_of, fix_for
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Span
from gradtape.explain.model.why import Why
from gradtape.explain.queries.why import explain_flow
from gradtape.explain.source.files import span_of
from gradtape.watching.budget import Budget
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.examples import Leak, count_examples, leaks_of, weights_of
from gradtape.watching.jax import gradients
from gradtape.watching.jax.calls import GradientCall
from gradtape.watching.jax.recorder import Session, local
from gradtape.watching.jax.values import Tracer
from gradtape.watching.meetings import find_meetings
from gradtape.watching.record import LeafRecord, WatchedRecord

active: list[Any] = []
"""The watchers that are recording, the innermost last."""


class TracedCall(NamedTuple):
    """A call of a function that was recorded: its session, result, and how gradients are pulled back."""

    call: GradientCall
    session: Session
    value: Any
    pull: Callable[[Any], Any]
    leaves: Sequence[Any]  # the arrays that are differentiated, in the order of `session.leaves`


def why(target: Any, source: Any) -> Why:
    """Why the gradient of a function is what it is, at an argument; or of a tracer, inside a function that is traced.

    The argument may be a tree of arrays: then the answer is about the first array in it that has no gradient. Further
    arguments of the function follow the first in a tuple.
    """
    if isinstance(target, Tracer) and isinstance(source, Tracer):
        return _why_of_tracers(target, source)
    if not callable(target):
        kind = "a number" if isinstance(target, float | int) else "an array"
        raise OperandError(
            f"why: {kind} of JAX does not know what it was computed from.\n  fix: why(loss, params), with the function "
            "and the argument that it is differentiated by; why(loss, (params, x, y)) if it has more arguments"
        )
    with traced(target, _arguments_for(target, source), [0]) as made:
        return _why_of_call(made)


def _arguments_for(function: Any, source: Any) -> tuple[Any, ...]:
    """The arguments of a call: the source alone, or those in a tuple if the function needs several."""
    if not isinstance(source, tuple):
        return (source,)
    try:
        inspect.signature(function).bind(source)
    except TypeError:
        return source
    except ValueError:  # without a signature
        return (source,)
    return (source,)


@contextmanager
def traced(function: Callable[..., Any], args: Sequence[Any], argnums: Sequence[int], **kwargs: Any) -> Iterator[Any]:
    """Inside, what was recorded of `function(*args)`, as a `TracedCall`."""
    function = _without_jit(function)
    with _recording_watcher() as watcher:
        split = [tree_flatten(arg) for arg in args]
        moving = [
            tree.unflatten([leaf if index in argnums and _is_moving(leaf) else None for leaf in leaves])
            for index, (leaves, tree) in enumerate(split)
        ]

        @functools.wraps(function)
        def of_moving(*parts: Any) -> Any:
            whole = []
            for part, (leaves, tree) in zip(parts, split):
                given = tree.flatten_up_to(part)
                whole.append(tree.unflatten([leaf if g is None else g for g, leaf in zip(given, leaves)]))
            return function(*whole, **kwargs)

        of_moving.__module__ = __name__  # a function of JAX's is not recorded by itself
        call = GradientCall(of_moving, tuple(argnums), False, True, True)
        with watcher.hooks.calling(call):
            value, pull = watcher.hooks.original("vjp")(watcher.hooks.observed(of_moving), *moving)
        if call.session is None:
            raise OperandError(
                "why, audit_batch: there is no array of floating point numbers among the arguments, so that there is "
                "no gradient.\n  fix: give the arguments as arrays: jnp.asarray(x, float)"
            )
        call.arguments = args
        was, local.is_judging = local.is_judging, True
        try:
            yield TracedCall(call, call.session, value, pull, tree_leaves(moving))
        finally:
            local.is_judging = was


def _without_jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """What `jax.jit` was given, whose operations are recorded one by one also if it was called before watching."""
    is_compiled = hasattr(function, "lower")
    inner: Callable[..., Any] = getattr(function, "__wrapped__", function) if is_compiled else function
    return inner


@contextmanager
def _recording_watcher() -> Iterator[Any]:
    """The watcher that is recording, or one for the time of a question."""
    if active:
        yield active[-1]
        return
    from gradtape.watching.jax.watcher import Watcher

    watcher = Watcher(Budget(seconds=float("inf")), lambda note: None)
    watcher.start()
    try:
        yield watcher
    finally:
        watcher.stop()


def _is_moving(leaf: Any) -> bool:
    dtype = getattr(leaf, "dtype", None)
    return isinstance(leaf, float) or (dtype is not None and jnp.issubdtype(dtype, jnp.inexact))


# -- why


def _why_of_tracers(target: Any, source: Any) -> Why:
    recorder = active[-1].recorder if active else None
    start, goal = (None, None) if recorder is None else (recorder.record_of(target), recorder.record_of(source))
    if recorder is None or start is None or goal is None or goal.is_shared:
        raise OperandError(
            "why: nothing was recorded of these tracers of JAX.\n  fix: ask inside a function that is differentiated, "
            "under `with gt.watch():` or `gradtape run`; or why(loss, params), with the function itself"
        )
    route = paths.route_back(start, goal, None)
    if route and all(node.is_on(None) for node in route) and not paths.blocked(route):
        return explain_flow(route, None, goal.shape)
    if route:
        return missing_gradient.explain_cut_path(route, recorder)
    return Why(
        problem(
            "GT202",
            f"no gradient: the target was not computed from {goal.params.get('name') or 'the source'}",
            spans=[span_of(node.location) for node in (start, goal) if node.location.is_known],
            fixes="compute the target from the source itself",
        )
    )


def _why_of_call(made: TracedCall) -> Why:
    target = made.call.target
    if not hasattr(target, "shape"):
        raise OperandError(
            f"why: the function returned {type(target).__name__}, not an array.\n  fix: ask about the number that is "
            "differentiated: why(lambda params: loss(params)[0], params)"
        )
    start = made.call.target_record
    computation = RecordedComputation([(start, np.ones(start.shape, start.dtype))] if start.is_tracked else [])
    taken = gradients.TakenGradient(made.call, made.session, [])
    missing = [leaf for leaf in taken.leaves if leaf not in computation.consumers]
    if missing:
        return _why_missing(taken, missing)
    answers = [_flow_of(computation, start, leaf) for leaf in taken.leaves]
    return next((answer for answer in answers if answer.code), answers[0])


def _why_missing(taken: gradients.TakenGradient, missing: Sequence[LeafRecord]) -> Why:
    """The answer for arrays that no path leads to: where it was cut, or that they were not used."""
    leaf = missing[0]
    named = str(leaf.params["name"])
    cut = gradients.cut_behind(taken, leaf)
    asked = span_of(taken.location, "asked here")
    if cut is not None:
        return Why(
            problem(
                code_of(cut),
                f"no gradient for {named}: {gradients.cut_words(cut)}",
                spans=[span_of(cut.location), asked],
                fixes=fix_for(cut, is_tape=True),
            )
        )
    found = gradients.unused_problem(taken, missing, len(missing) == len(taken.leaves))
    title = f"no gradient for {gradients.names_of(missing)}: the result was not computed from it"
    details = {key: value for key, value in found.details.items() if key != "cause"}
    return Why(found.with_(code="GT202", title=title, consequence="", details=details))


def _flow_of(computation: RecordedComputation, start: WatchedRecord, leaf: LeafRecord) -> Why:
    route = paths.route_back(start, leaf, None)
    sizes = [_rms(computation.gradients.get(node)) for node in route]
    known = [size for size in sizes if size is not None]
    return explain_flow(route, known if len(known) == len(sizes) else None, leaf.shape)


def _rms(gradient: Any) -> float | None:
    if gradient is None or isinstance(gradient, dict | list):
        return None
    return float(np.sqrt(np.mean(np.abs(gradient) ** 2))) if np.size(gradient) else 0.0


# -- examples of a batch


def find_leaks(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], numbers: Sequence[int]
) -> tuple[int, list[Leak], list[Span]]:
    """The number of examples, the pairs that leak (result, example, argument, size), and where they meet."""
    with traced(function, args, numbers, **kwargs) as made:
        output = made.value
        owners = [number for number in numbers for leaf in tree_leaves(args[number]) if _is_moving(leaf)]
        size = count_examples(output, isinstance(output, jax.Array), made.leaves)
        weights = weights_of(output.shape).astype(output.dtype)
        leaks: list[Leak] = []
        for example in range(size):
            seed = np.zeros_like(weights)
            seed[example] = weights[example]
            for number, gradient in zip(owners, tree_leaves(made.pull(jnp.asarray(seed)))):
                leaks += leaks_of(example, size, number, gradient, float(jnp.finfo(gradient.dtype).eps))
        start = made.call.target_record
        if start.is_shared:
            return size, leaks, []
        sources = {leaf: np.array(value) for leaf, value in zip(made.session.leaves, made.leaves)}
        return size, leaks, find_meetings(start, sources, [leak[:2] for leak in leaks])


__all__ = ["active", "find_leaks", "why"]
