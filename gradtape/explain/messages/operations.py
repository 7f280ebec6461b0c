"""Errors of operations: operands, arguments and axes that they do not accept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradtape.errors import AxisError, GradTapeError, OperandError, ShapeError, family
from gradtape.explain.messages.build import failure, problem
from gradtape.explain.messages.from_text import code_for

if TYPE_CHECKING:
    from gradtape.core.operation import Op

Shape = tuple[int, ...]


def refused_operands(
    error: Exception, op: Op | str, inputs: Sequence[Any], params: dict[str, Any] | None = None
) -> Exception:
    """For an error of NumPy: one of its class and ours, that says which axes of which operands do not fit, and a fix.

    Its `__cause__` is NumPy's error where that adds information, else None.
    """
    ours = family(error)
    if isinstance(error, GradTapeError) or ours is None:
        return error
    from gradtape.explain.detectors.shape_mismatch import explain_numpy_error
    from gradtape.explain.source.active_ops import refusal_of_one_example

    one = refusal_of_one_example(error)
    examples = 0
    if one is not None:
        error, (op, inputs, params), examples = one
    name, kind = (op, "") if isinstance(op, str) else (op.name, op.kind)
    explained, adds_something = explain_numpy_error(error, name, kind, inputs, params or {}, ours, examples)
    explained.__cause__ = error if adds_something else None
    return explained


def refused_argument(kind: type[GradTapeError], what: str, fix: str) -> GradTapeError:
    """An operation cannot take an argument: `what` is "function: what was given", `fix` what is accepted."""
    from gradtape.explain.fixes.call_edits import apply_advice_to_call
    from gradtape.explain.source.expression import UserExpression

    site = UserExpression.present()
    about = site.arrays() if issubclass(kind, ShapeError) else []
    fixes = apply_advice_to_call(site, fix)
    return kind(problem(code_for(kind, what), what.rstrip("."), spans=[site.span], operands=about, fixes=fixes))


def leaf_in_batch(shape: Shape) -> GradTapeError:
    """One example of a batch was to require a gradient, for `.backward()`, which records nothing of examples."""
    return failure(
        "GT314",
        f"requires_grad: one example of a batch (shape {shape}), inside gt.vmap, where .backward() records nothing",
        OperandError,
        fixes=[
            "gt.grad(loss)(x) inside of gt.vmap; or with gt.GradientTape() as tape, and tape.watch(x)",
            "gt.vmap(loss)(x).sum().backward() outside of it, for a leaf that holds the whole batch",
        ],
    )


def lazy_array(kind: type) -> GradTapeError:
    """An array of Dask's, which has no numbers yet, was given to a tensor's operation, or to be made a tensor."""
    return failure(
        "GT314",
        f"a Dask {kind.__name__} meets gradtape's tensors: its numbers are computed chunk by chunk, later",
        OperandError,
        consequence="a tape records numbers, and all chunks at once may not fit into memory",
        fixes=[
            "gt.distributed.value_and_grad(loss)(w, X, y): the gradient over the rows of Dask arrays, chunk by chunk",
            "X.compute(), if all of it fits into memory",
        ],
    )


def no_such_axis(axis: Any, ndim: int, shape: Shape | None = None) -> GradTapeError:
    """The error for an axis that an array does not have."""
    from gradtape.explain.detectors.shape_mismatch import axis_problem

    return AxisError(axis_problem(axis, ndim, shape))


def repeated_axis(axis: Any, ndim: int) -> GradTapeError:
    """The error for an axis that is named twice."""
    return failure(
        "GT117", f"axis={axis!r} names the same axis of {ndim} twice", ShapeError, fixes="name each axis once"
    )


__all__ = [
    "lazy_array",
    "leaf_in_batch",
    "no_such_axis",
    "refused_argument",
    "refused_operands",
    "repeated_axis",
]
