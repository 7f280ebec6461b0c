"""Which arguments of a function are static: those that `jit` was told of, by their places and by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from gradtape.errors import OperandError
from gradtape.jit.trace.call import Static


def static_arguments(
    function: Callable[..., Any], argnums: int | Sequence[int], argnames: str | Sequence[str]
) -> Static:
    """Static arguments, by position and by name: one that is told in one way may be passed in the other.

    >>> from gradtape.jit.guards.static import static_arguments
    >>> static_arguments(lambda x, n: x * n, (), "n")
    Static(numbers=frozenset({1}), names=frozenset({'n'}))
    """
    numbers, names = _as_set(argnums, int, "static_argnums"), _as_set(argnames, str, "static_argnames")
    if not numbers and not names:
        return Static(numbers, names)
    try:
        own = inspect.signature(function, follow_wrapped=False).parameters.values()
        known = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in function does not tell
        return Static(numbers, names)
    kinds = {parameter.kind for parameter in own}
    by_place = [p.name for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    unknown = sorted(names - {parameter.name for parameter in own})
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        raise OperandError(
            f"jit: static_argnames={unknown[0]!r}; the function has no argument of that name, but "
            f"{', '.join(repr(parameter.name) for parameter in own) or 'none'}"
        )
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        far = [number for number in sorted(numbers) if not -len(by_place) <= number < len(by_place)]
        if far:
            raise OperandError(
                f"jit: static_argnums={far[0]}; the function has {len(by_place)} positional arguments, counted from 0"
            )
    both = [parameter.name for parameter in known if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    first = [parameter.name for parameter in known][: len(both)]
    if both != first:  # some can only be given by position
        return Static(numbers, names)
    return Static(
        numbers | {number for number, name in enumerate(both) if name in names},
        names | {both[number] for number in numbers if 0 <= number < len(both)},
    )


def _as_set(given: Any, kind: type, what: str) -> frozenset[Any]:
    items = (given,) if isinstance(given, kind) else tuple(given)
    for item in items:
        if not isinstance(item, kind):
            raise OperandError(f"jit: {what}={given!r}; {kind.__name__} or a sequence of them is wanted")
    return frozenset(items)
