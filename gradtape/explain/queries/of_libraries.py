"""`gradtape.explain.why`: why a gradient is what it is, of gradtape's own tensors and of those of a watched library."""

from __future__ import annotations

import importlib
from typing import Any

from gradtape.errors import OperandError
from gradtape.explain.model.why import Why
from gradtape.explain.source.libraries import is_tensor

WATCHED = ("torch",)  # the libraries whose recorder answers, each in gradtape.watching.<library>.queries


def why(target: Any, source: Any = None) -> Why:
    """Why the gradient of `target` with respect to `source` is what it is: the path it takes, or where it was lost.

    Of gradtape's tensors, along the graph of `backward`, as `source.why(target)`. Of tensors of PyTorch, along what was
    recorded: inside `gt.watch()`, or in a program that `gradtape run` runs. Of TensorFlow's, `target` is a tuple of the
    tape, the target and the source.

    >>> import gradtape as gt
    >>> w = gt.tensor([1.0, 2.0], requires_grad=True)
    >>> print(gt.explain.why((w * 2.0).sum(), w).splitlines()[0])
    the gradient flows: 2 operations from the target back to the source
    """
    if source is None and isinstance(target, tuple) and len(target) == 3:
        queries = importlib.import_module("gradtape.watching.tensorflow.queries")
        found: Why = queries.why(*target)
        return found
    for library in WATCHED:
        if any(type(each).__module__.partition(".")[0] == library for each in (target, source)):
            queries = importlib.import_module(f"gradtape.watching.{library}.queries")
            answer: Why = queries.why(target, source)
            return answer
    if not is_tensor(source) or not hasattr(source, "why"):
        raise OperandError(
            f"why(target, source): the source is a {type(source).__name__}, not a tensor of gradtape or PyTorch; of "
            "TensorFlow, why((tape, target, source))"
        )
    answer = source.why(target)
    return answer


__all__ = ["why"]
