"""Errors about rules of the user: a call of a function with a rule, named with the rule, its line and the argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.config import config
from gradtape.core.location import Location
from gradtape.core.pytree import children, leaves
from gradtape.core.tensor import Tensor
from gradtape.errors import DetachError, GradTapeError, RuleError
from gradtape.explain import messages
from gradtape.transforms.custom.arrays import NUMBERS, Function, array_if_untracked


def function_name(function: Any) -> str:
    """The name that a function goes by."""
    return str(getattr(function, "__name__", type(function).__name__))


def definition_of(function: Any) -> Location:
    """The line that a function is defined at."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    if not hasattr(function, "__code__"):  # an object that can be called
        function = type(function).__call__
    return Location(getattr(function, "__code__", None), 0)


class RuleCall:
    """One call of a function with a rule: its name, the line of the call, and the names of its arguments."""

    def __init__(self, function: Function, names: Sequence[str] = ()) -> None:
        self.function = function
        self.name = function_name(function)
        self.names = names
        self.where = Location.here() if config.locations else Location(None, 0)
        self.reads_more = False  # whether the function was found to read tracked tensors besides its arguments

    def argument(self, number: int, path: str = "") -> str:
        """How messages speak of an argument: its number, its name, and a path in it."""
        return f"argument {number}" + (f" ({self.names[number]})" if number < len(self.names) else "") + path

    def wrong(self, rule: Any, problem: str, fix: str) -> GradTapeError:
        """The error for a rule that did not return what it has to."""
        return messages.broken_rule(
            f"the rule {function_name(rule)!r} of {self.name!r} {problem}", definition_of(rule), self.where, fix
        )

    def no_rule(self, definition: str) -> RuleError:
        """The error for a call before `defvjp` or `defjvp`."""
        return RuleError(
            f"{self.name!r} was called before it had a rule.\n{self.where.show()}\n"
            f"  fix: {self.name}.{definition} after its definition"
        )

    def wrong_pair(self, rule: Any, answer: Any, pair: str) -> GradTapeError:
        """The error for a rule that does not return a pair."""
        return self.wrong(rule, f"must return a pair, {pair}; it returned {describe_value(answer)}", f"return {pair}")

    def checked(self, rule: Any, value: Any, spec: Any, what: str) -> Any:
        """`value` as the derivative that belongs to `spec`: same shape, same dtype, or an error. None is zeros."""
        if spec.dtype.kind not in "fc":
            return None
        if value is None:
            return np.zeros(spec.shape, spec.dtype)
        weak = isinstance(value, int | float | complex) and not isinstance(value, np.generic)
        if not isinstance(value, Tensor):
            value = np.array(value)  # a copy: a gradient is nobody else's memory
            if value.dtype.kind not in NUMBERS:
                raise self.wrong(
                    rule, f"returned something of dtype {value.dtype} for {what}", "return numbers, or None"
                )
        if value.shape != spec.shape:
            raise self.wrong(
                rule,
                f"returned shape {value.shape} for {what}, which has shape {spec.shape}",
                f"return an array of shape {spec.shape}; it is never summed or stretched into place",
            )
        if value.dtype != spec.dtype:
            if weak and np.can_cast(value.dtype, spec.dtype, "same_kind"):
                return value.astype(spec.dtype)
            real = ".real" if value.dtype.kind == "c" and spec.dtype.kind != "c" else ""
            raise self.wrong(
                rule,
                f"returned dtype {value.dtype} for {what}, which has dtype {spec.dtype}",
                f"return gradient{real}.astype({str(spec.dtype)!r})",
            )
        return array_if_untracked(value)

    def aligned(self, rule: Any, tree: Any, answer: Any, what: str) -> list[tuple[str, Any]]:
        """For each leaf of `tree`, its path and what the rule returned for it."""
        try:
            return pair_leaves(tree, answer)
        except ValueError as mismatch:
            path, expected, given = mismatch.args
            is_leaf = children(expected) is None
            raise self.wrong(
                rule,
                f"returned {describe_value(given)} {what}{path}, "
                f"which is {'an array' if is_leaf else describe_value(expected)}",
                "return the same structure; None stands for zeros anywhere in it",
            ) from None

    def closed_over(self, another_fix: str = "") -> DetachError:
        """The error for a result that depends on a tracked tensor which the rule does not cover."""
        self.reads_more = True
        return DetachError(
            f"the result of {self.name!r} depends on a tracked tensor that its rule does not cover, because it is no "
            f"argument or one of nondiff_argnums; that gradient would be lost in silence.\n{self.where.show()}\n"
            f"  fix: pass the tensor as an argument and give it a gradient in the rule;\n{another_fix}"
            f"       or gt.stop_gradient(tensor) inside {self.name!r} if no gradient is wanted"
        )


def describe_value(value: Any) -> str:
    """A few words for what somebody returned, without its numbers."""
    if value is None:
        return "None"
    if isinstance(value, dict):
        return f"a dict with keys {list(value)}"
    parts = children(value)
    return f"a {type(value).__name__}" + ("" if parts is None else f" of {len(parts)}")


def pair_leaves(tree: Any, given: Any, path: str = "") -> list[tuple[str, Any]]:
    """For each leaf of `tree`, its path and what `given` has there. A None stands for a whole branch.

    Raises `ValueError(path, tree, given)` where the two part.
    """
    if given is None:
        return [(path, None)] * len(leaves(tree))
    if tree is None and isinstance(given, Tensor | np.ndarray):
        return [(path, given)]
    branch, parts = children(tree), children(given)
    if branch is None and parts is None:
        return [(path, given)]
    names: list[Any] = list(tree) if isinstance(tree, dict) else list(range(len(branch or ())))
    if isinstance(tree, dict) and isinstance(given, dict) and set(tree) == set(given):
        parts = [given[key] for key in names]
    elif branch is None or parts is None or type(tree) is not type(given) or len(branch) != len(parts):
        raise ValueError(path, tree, given)
    rows = zip(names, branch or (), parts, strict=True)
    return [pair for name, child, part in rows for pair in pair_leaves(child, part, f"{path}[{name!r}]")]


def structures_fit(tree: Any, given: Any) -> bool:
    """Whether `given` has the structure of `tree`, up to branches that are None."""
    try:
        pair_leaves(tree, given)
    except ValueError:
        return False
    return True
