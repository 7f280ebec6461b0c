"""`gradtape.explain.why`: why a gradient is what it is, of gradtape's own tensors and of those of a watched library."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

from gradtape.errors import OperandError
from gradtape.explain.model.why import Why
from gradtape.explain.source.libraries import is_tensor

WATCHED = {"torch": "torch", "jax": "jax", "jaxlib": "jax"}
"""The libraries whose recorder answers, in gradtape.watching.<library>.queries, by the packages of their arrays."""


def why(target: Any, source: Any = None) -> Why:
    """Why the gradient of `target` with respect to `source` is what it is: the path it takes, or where it was lost.

    Of gradtape's tensors, along the graph of `backward`, as `source.why(target)`. Of tensors of PyTorch, along what was
    recorded: inside `gt.watch()`, or in a program that `gradtape run` runs. Of TensorFlow's, `target` is a tuple of the
    tape, the target and the source. Of JAX, `target` is the function that is differentiated and `source` its argument,
    a tree of arrays; or a tuple of all its arguments, of which the first is differentiated.

    >>> import gradtape as gt
    >>> w = gt.tensor([1.0, 2.0], requires_grad=True)
    >>> print(gt.explain.why((w * 2.0).sum(), w).splitlines()[0])
    the gradient flows: 2 operations from the target back to the source
    """
    if source is None and isinstance(target, tuple) and len(target) == 3:
        queries = importlib.import_module("gradtape.watching.tensorflow.queries")
        found: Why = queries.why(*target)
        return found
    for package in library_packages(target, source):
        if package in WATCHED:
            queries = importlib.import_module(f"gradtape.watching.{WATCHED[package]}.queries")
            answer: Why = queries.why(target, source)
            return answer
    if not is_tensor(source) or not hasattr(source, "why"):
        raise OperandError(
            f"why(target, source): the source is a {type(source).__name__}, not a tensor of gradtape or PyTorch; of "
            "TensorFlow, why((tape, target, source)); of JAX, why(function, argument)"
        )
    answer = source.why(target)
    return answer


def library_packages(*values: Any) -> list[str]:
    """The packages that the classes of some values are from, and of those in lists, tuples, dicts and dataclasses.

    >>> import collections
    >>> library_packages({"w": [1.0, collections.OrderedDict()]})
    ['builtins', 'collections']
    """
    found: dict[str, None] = {}
    pending, steps = [*values], 0
    while pending and steps < VALUES_AT_MOST:
        value = pending.pop(0)
        steps += 1
        found[type(value).__module__.partition(".")[0]] = None
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list | tuple):
            pending += value
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            pending += vars(value).values()
    return list(found)


VALUES_AT_MOST = 1000


__all__ = ["library_packages", "why"]
