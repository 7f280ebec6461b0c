"""Small tools: replacing entries of tuples, ordering graphs, and the old name of the gradient check."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradtape_standins import missing_names


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """`x` as a tuple with the entries in `ivs` (pairs of place and value) replaced.

    >>> subvals((1, 2, 3), [(0, "a"), (2, "c")])
    ('a', 2, 'c')
    """
    changed = list(x)
    for place, value in ivs:
        changed[place] = value
    return tuple(changed)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """`x` as a tuple with entry `i` replaced."""
    return subvals(x, [(i, v)])


def func(f: Any) -> Any:
    """`f` itself."""
    return f


def toposort(end_node: Any, parents: Callable[[Any], Any] = operator.attrgetter("parents")) -> Iterator[Any]:
    """The nodes that `end_node` was made from, each after all that were made from it.

    >>> list(toposort(4, {4: (3, 2), 3: (2,), 2: ()}.get))
    [4, 3, 2]
    """
    waiting: dict[Any, int] = {end_node: 0}
    pending = [end_node]
    while pending:
        for parent in parents(pending.pop()):
            if parent not in waiting:
                waiting[parent] = 0
                pending.append(parent)
            waiting[parent] += 1
    ready = [end_node]
    while ready:
        node = ready.pop()
        yield node
        for parent in parents(node):
            waiting[parent] -= 1
            if not waiting[parent]:
                ready.append(parent)


def quick_grad_check(fun: Callable[..., Any], arg0: Any, extra_args: Any = (), kwargs: Any = None, **_: Any) -> None:
    """The old name of `autograd.test_util.check_grads`; how exactly it compares cannot be set any more."""
    warnings.warn("quick_grad_check is deprecated; use autograd.test_util.check_grads", stacklevel=2)
    from gradtape_standins.autograd.test_util import check_grads

    check_grads(lambda x: fun(x, *extra_args, **(kwargs or {})), modes=["rev"], order=1)(arg0)


__getattr__ = missing_names.missing(__name__)
