"""The user's own gradient rules, `jax.custom_vjp`: whether what they give is the derivative of their function.

The function without its rule is differentiated by JAX itself, and compared with what the rule gives.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from types import CodeType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradtape.core.location import is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.files import returned_span, span_of
from gradtape.watching.jax.recorder import RuleUse, Session

TOLERANCE = 0.02
_EFFECTS = frozenset({"print", "append", "write", "random", "input", "open", "add", "extend", "callback"})


def check(session: Session) -> None:
    """Report rules that were used in a session and are not the derivative of their function."""
    for use in session.rules:
        found = _judge_rule(use)
        if found is not None and is_due(found.code, *found.place[1:]):
            report(found)


def _judge_rule(use: RuleUse) -> Problem | None:
    custom, rule = use.call, use.call.function
    function, nondiff = getattr(rule, "fun", None), tuple(getattr(rule, "nondiff_argnums", None) or ())
    rules = [each for each in (getattr(rule, name, None) for name in ("fwd", "bwd", "jvp")) if each is not None]
    if function is None or not rules or nondiff or custom.kwargs:
        return None
    module = getattr(function, "__module__", "") or ""
    if module.startswith("jax.") or any(map(_has_effects, (function, *rules))):
        return None
    leaves = jax.tree_util.tree_leaves(custom.args)
    known = [None if kept is None else kept.array() for kept in use.operands]
    if len(known) != len(leaves) or any(value is None for value in known):
        return None
    arguments = [jnp.asarray(value) for value in known]
    if not all(jnp.issubdtype(a.dtype, jnp.inexact) for a in arguments):
        return None
    tree = jax.tree_util.tree_structure(custom.args)
    given = tree.unflatten(arguments)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            value, pull = jax.vjp(function, *given)
            _, pull_rule = jax.vjp(rule, *given)
            moved = [a * 1.25 + 0.125 for a in arguments]
            if _is_identity(value, arguments) and _is_identity(function(*tree.unflatten(moved)), moved):
                return None  # a function that only changes the gradient: clipped, reversed, scaled
            seed = jax.tree_util.tree_map(_small_seed, value)
            true, ours = (list(map(np.asarray, jax.tree_util.tree_leaves(p(seed)))) for p in (pull, pull_rule))
    except Exception:  # a function that JAX cannot differentiate is what a rule is for
        return None
    if len(true) != len(ours):
        return None
    for index, (right, wrong) in enumerate(zip(true, ours)):
        if right.shape != wrong.shape or not (np.isfinite(right).all() and np.isfinite(wrong).all()):
            continue
        size = float(np.max(np.abs(right), initial=0.0))
        if not size or not np.any(wrong):
            continue  # a surrogate for a function that is flat, or an argument without a gradient
        worst = np.unravel_index(int(np.argmax(np.abs(right - wrong))), right.shape)
        if abs(right[worst] - wrong[worst]) <= TOLERANCE * size:
            continue
        return _wrong_value_problem(use, rules[-1], index, right, wrong, worst)
    return None


def _wrong_value_problem(use: RuleUse, rule: Any, index: int, right: Any, wrong: Any, worst: Any) -> Problem:
    name = getattr(use.call.function.fun, "__name__", "the function")
    place = f" at {[int(i) for i in worst]}" if worst else ""
    code = getattr(rule, "__code__", None)
    is_users = code is not None and not is_library(code.co_filename)
    spans = [returned_span(code, "what the rule gives")] if is_users else []
    ratio = wrong[worst] / right[worst] if right[worst] else float("inf")
    return problem(
        "GT320",
        f"the rule of {name} is not its derivative: {ratio:.3g} times what it should be for argument {index}{place}",
        spans=[*spans, span_of(use.location, "used here")],
        notes=[f"compared with the derivative that JAX computes of {name} itself, without the rule"],
        consequence="every gradient that goes through it has the wrong value",
        fixes=f"correct what {getattr(rule, '__name__', 'the rule')} returns; or leave the rule out, if {name} has a "
        "derivative that JAX can compute",
    )


def _small_seed(result: Any) -> Any:
    """A gradient with different, small elements: rules that clip pass it on unchanged."""
    size = int(np.prod(result.shape))
    return jnp.asarray(np.linspace(0.01, 0.02, max(size, 1))[:size].reshape(result.shape), result.dtype)


def _is_identity(value: Any, arguments: list[Any]) -> bool:
    results = jax.tree_util.tree_leaves(value)
    return len(results) == 1 and any(
        results[0].shape == a.shape and bool(jnp.array_equal(results[0], a)) for a in arguments
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _has_effects(function: Any) -> bool:
    """Whether a function may do more than compute, so that it is not called a second time."""
    code = getattr(function, "__code__", None)
    if code is None:
        return True
    return any(_EFFECTS & {*each.co_names} for each in _codes(code))


__all__ = ["check"]
