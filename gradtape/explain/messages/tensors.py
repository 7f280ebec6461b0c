"""Errors of tensors and their values: creating, reading and writing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.errors import DetachError, DtypeError, GradTapeError, MutationError, ShapeError
from gradtape.explain.messages.build import at, failure, here

if TYPE_CHECKING:
    from gradtape.core.graph import Node
    from gradtape.explain.model.problem import Span

Shape = tuple[int, ...]


# -- tensors and their values


def no_derivative_of_dtype(what: str, dtype: Any, shape: Shape) -> GradTapeError:
    """The error for a gradient by integers or booleans."""
    return failure(
        "GT310",
        f"{what}: a tensor of dtype {dtype} (shape {shape}) has no gradient; only real and complex floating point "
        f"numbers do",
        fixes=[
            "write the numbers with a point (1.0), or x.astype(float) before",
            *(["argnums= of another argument"] if what.startswith("argument ") else []),
        ],
    )


def ragged(data: Any, error: Exception) -> GradTapeError:
    """The error for nested sequences of unequal lengths."""
    return failure(
        "GT314",
        f"{type(data).__name__} does not make an array: {error}",
        ShapeError,
        fixes="give numbers of one shape; gt.stack and gt.concatenate join tensors",
    )


def objects_among_operands(operation: str, inputs: Sequence[Any]) -> GradTapeError:
    """The error for an array of Python objects among the operands; it names the operand."""
    from gradtape.explain.source.expression import UserExpression

    site = UserExpression.present()
    arrays = [x for x in inputs if isinstance(x, np.ndarray) and x.dtype.hasobject]
    operands = [one for one in site.operands(inputs) if one.dtype == "object"] if arrays else []
    lengths = {np.shape(element) for array in arrays for element in array.ravel()[:100]}
    name = operands[0].name if operands else "an operand"
    return failure(
        "GT314",
        f"{operation}: {name} is an array of Python objects (dtype object), which have no derivative",
        DtypeError,
        spans=[site.span],
        operands=operands,
        notes=[f"its elements have the shapes {', '.join(map(str, sorted(lengths)[:4]))}"] if len(lengths) > 1 else (),
        fixes="rows of one length, padded with np.pad if they are shorter; or a loop over them"
        if len(lengths) > 1
        else f"{name if operands else 'array'}.astype(float), if its elements are numbers",
    )


def not_numbers(data: Any, dtype: Any) -> GradTapeError:
    """The error for data that NumPy reads as strings, dates or objects."""
    return failure(
        "GT314",
        f"a tensor holds numbers; {type(data).__name__} gives an array of dtype {dtype}",
        DtypeError,
        fixes="pass numbers or booleans of one shape; gt.stack joins tensors",
    )


def no_length() -> GradTapeError:
    """The error for `len()` of a tensor without axes."""
    return failure("GT314", "len() of a tensor of shape (), which has no first axis", fixes=["x.size", "x[None]"])


def not_one_element(how: str, shape: Shape) -> GradTapeError:
    """The error for `float()` and the like of several elements, or for a function that calls it."""
    from gradtape.explain.detectors.foreign_function import find_foreign_call
    from gradtape.explain.source.expression import UserExpression

    theirs = find_foreign_call(UserExpression.present()) if how == "float()" else None
    if theirs is not None and theirs.name.startswith("math."):
        return failure(
            "GT314",
            f"{theirs.name} takes one number; this tensor has shape {shape}",
            ShapeError,
            fixes=theirs.fixes(),
        )
    return failure(
        "GT314",
        f"{how} needs one element; this tensor has shape {shape}",
        ShapeError,
        fixes="reduce it first (.sum(), .mean(), .max()) or pick one element (x[0])",
    )


def no_single_truth(shape: Shape) -> GradTapeError:
    """The error for `if tensor:` of several elements."""
    return failure(
        "GT314",
        f"the truth of a tensor of shape {shape} is not one answer",
        ShapeError,
        fixes=[
            "(condition).any() or (condition).all() for one answer",
            "gt.where(condition, a, b) for one for each element",
        ],
    )


_refused_conversions: list[Span] = []  # where the last one was asked for


def last_refused_conversion() -> Span | None:
    """Where a conversion was last refused: compiled functions of SciPy replace that error by one of their own."""
    return _refused_conversions[-1] if _refused_conversions else None


def silent_detach(shape: Shape) -> GradTapeError:
    """The error for a conversion to NumPy that would lose a gradient, with the differentiable equivalent."""
    from gradtape.explain.detectors.departure_fixes import fixes_for_conversion
    from gradtape.explain.detectors.foreign_function import (
        expression_outside_packages,
        find_foreign_call,
        fixes_for_method,
        fixes_for_sparse_matrix,
    )

    site = expression_outside_packages()
    _refused_conversions[:] = [site.span]
    theirs, dense, function = find_foreign_call(site), fixes_for_sparse_matrix(site), fixes_for_method(site)
    taker, fixes = "", list[str](fixes_for_conversion(site))
    if dense is not None:
        taker, fixes = "a sparse matrix", dense
    elif function:
        taker, fixes = "a method of a NumPy array", [*function]
    elif theirs is not None and theirs.takes_no_tensors:
        taker, fixes = theirs.name, theirs.fixes()
    else:
        fixes += [
            "to join tensors, gt.stack([x, y]) or gt.concatenate",
            "to write into an array, gt.at(array)[i].set(x), or make it with import gradtape.numpy as np",
        ]
    asked = "NumPy asked for the bare array of a tracked tensor of shape"
    # These replace a TypeError, which a DetachError is, by an error of their own that says nothing of this
    kind = GradTapeError if taker in ("numpy.nditer", "scipy.optimize.minimize") else None
    return failure(
        "GT312",
        (f"{taker} takes bare arrays, and this tensor of shape {shape} is tracked" if taker else f"{asked} {shape}")
        + "; its gradient would be lost in silence",
        kind,
        spans=[site.span],
        fixes=fixes,
        intent="if the gradient is not wanted, say so: x.numpy() or gt.stop_gradient(x)",
    )


def tracked_parameter(operation: str, parameter: str, shape: Shape) -> GradTapeError:
    """The error for a tracked tensor as a parameter that an operation takes as a plain number."""
    from gradtape.explain.source.expression import UserExpression

    return failure(
        "GT312",
        f"{operation}: {parameter} is taken as a plain number, and this tensor of shape {shape} is tracked; its "
        f"gradient would be lost in silence",
        DetachError,
        spans=[UserExpression.present().span],
        fixes=f"where the gradient by {parameter} is not wanted, gt.stop_gradient({parameter}); where it is, write the "
        "formula out with operations of tensors",
    )


def sparse_matrix_detached(shape: Shape) -> GradTapeError:
    """The error for a sparse matrix of tensors that SciPy's own functions, or NumPy's, would make an array."""
    from gradtape.explain.detectors.foreign_function import expression_outside_packages, find_foreign_call

    site = expression_outside_packages()
    theirs = find_foreign_call(site)
    by_import = [] if theirs is None else theirs.fixes_by_import()
    taker = f"{theirs.name} makes" if theirs is not None and by_import else "NumPy would make"
    return failure(
        "GT312",
        f"{taker} a sparse matrix of tensors, of shape {shape}, an array, which would lose its gradient",
        spans=[site.span],
        fixes=[
            *by_import,
            "A.toarray() is the dense tensor; gradtape.scipy.sparse has the functions of scipy.sparse for it",
        ],
    )


def written_into_array(shape: Shape) -> GradTapeError:
    """A tracked result would be written into a plain array: by `a[i] += x`, `a += x`, or `out=a`."""
    from gradtape.explain.detectors.departure_fixes import MADE_WITH_OURS, fixes_for_write
    from gradtape.explain.source.expression import UserExpression

    name, offered = fixes_for_write(UserExpression.present())
    return failure(
        "GT312",
        f"a tracked tensor (shape {shape}) would be written into {name or 'a plain array'}"
        f"{', a plain array,' if name else ''} and lose its gradient",
        fixes=offered
        or [
            MADE_WITH_OURS,
            "let the array be a tensor (gt.zeros(n)) before it is written into",
        ],
        intent="if the gradient is not wanted, say so: x.numpy() or gt.stop_gradient(x)",
    )


def stored_while_tracked(how: str, shape: Shape) -> GradTapeError:
    """The error for pickling or copying a tensor whose graph would not come along."""
    return failure(
        "GT312",
        f"{how} of a tracked intermediate tensor of shape {shape} would lose its gradient in silence",
        fixes=f"{how} of x.detach(), or of the leaves it was computed from",
    )


def one_of_a_batch(size: int, shape: Shape) -> GradTapeError:
    """The error for reading the number of a tensor inside `vmap`."""
    return failure(
        "GT312",
        f"inside vmap this tensor stands for {size} examples at once (each of shape {shape}): it has no single value "
        f"to print, branch on or convert",
        fixes="gt.where(condition, a, b) instead of if; return the value instead of converting it; "
        "as an index of an array, gt.take(array, i, axis=0) or gt.tensor(array)[i]",
    )


def frozen_intermediate(node: Node) -> GradTapeError:
    """The error for `requires_grad_(False)` on the result of an operation."""
    return failure(
        "GT314",
        "requires_grad_(False) on a computed tensor",
        spans=[here(), at(node.location, "computed here")],
        fixes="x.detach() is the same value without the graph",
    )


def wrong_grad_shape(shape: Shape, given: Shape) -> GradTapeError:
    """The error for assigning `.grad` an array of another shape than its tensor's."""
    return failure(
        "GT301",
        f".grad of a tensor of shape {shape} was set to an array of shape {given}",
        fixes=f"a gradient has its tensor's shape, {shape}",
    )


# -- writing


def wrong_assigned_shape(name: str | None, shape: Shape, given: Shape) -> GradTapeError:
    """The error for assigning a variable a value of another shape."""
    from gradtape.explain.detectors.shape_mismatch import value_shape_problem

    title = f"assign: the variable{f' {name!r}' if name else ''} has shape {shape}, the new value {given}"
    return ShapeError(value_shape_problem(title, given, shape))


def wrong_assigned_dtype(dtype: Any, given: Any) -> GradTapeError:
    """The error for assigning a variable a value whose dtype it cannot hold."""
    return failure(
        "GT314",
        f"assign: a value of dtype {given} into a variable of dtype {dtype}",
        DtypeError,
        fixes=f"value.astype({str(dtype)!r}) if that loss is meant",
    )


def does_not_fit_in_place(how: str, shape: Shape, dtype: Any, given: Shape, given_dtype: Any) -> GradTapeError:
    """The error for a result that does not fit the tensor that it is to be written into."""
    if given == shape:
        return failure(
            "GT314",
            f"{how}: the result has dtype {given_dtype}; the tensor it is written into has dtype {dtype}, which cannot "
            "hold it",
            DtypeError,
            fixes=["x = x + y instead of x += y", f"x = x.astype({str(given_dtype)!r}) before"],
        )
    return failure(
        "GT110",
        f"{how}: the result has shape {given} and dtype {given_dtype}; the tensor it is written into has shape {shape} "
        f"and dtype {dtype}",
        fixes="x = x + y instead of x += y",
    )


def leaf_written(how: str, shape: Shape) -> GradTapeError:
    """The error for writing in place to a tensor that gradients are taken by."""
    return failure(
        "GT309",
        f"{how}: this tensor of shape {shape} is a leaf that gradients are asked for",
        consequence="written in place it would no longer be what the tape started from",
        fixes=["y = gt.at(x)[i].set(v)", "write a copy: y = x.copy(); y[i] = v", "update it under gt.no_grad()"],
    )


def saved_array_changed(node: Node, shape: Shape) -> GradTapeError:
    """The error for an array that was changed after an operation had saved it, with the line that wrote."""
    from gradtape.core.saved_arrays import LockedArray
    from gradtape.explain.source.expression import UserExpression
    from gradtape.explain.source.writes import find_writes

    name = "" if node.op is None else f" by {node.op.name!r}"
    arrays = [item.array for item in node.inputs if type(item) is LockedArray and item.array.shape == shape]
    saved = at(node.location, "saved here")
    written = [
        span
        for span in find_writes(UserExpression.present(), arrays)
        if (span.file, span.line) != (saved.file, saved.line)
    ]
    alone = len(written) == 1
    return failure(
        "GT309",
        f"an array of shape {shape} was changed after the tape had saved it{name}",
        MutationError,
        spans=[*(one.labelled("this writes into it") for one in written), saved, here("changed before this")],
        notes=[]
        if alone
        else ["it was written through a view, so the writing line is not known: look between these lines"],
        consequence="the gradient would be that of the new numbers, which the value was not computed from",
        fixes=[
            "give the operation a copy (array.copy())",
            "write after the gradient has been taken",
            "import gradtape.numpy as np, and make the array where the tape records: a write then makes a new version",
        ],
    )


def read_array_changed(shape: Shape) -> GradTapeError:
    """The error for an array that a function reads which runs again for its gradient, and that was changed since."""
    return failure(
        "GT309",
        f"an array of shape {shape} was changed after a function had read it that runs again for its gradient",
        MutationError,
        spans=[here("changed before this")],
        consequence="the gradient would be that of the new numbers, which the value was not computed from",
        fixes=[
            "pass the array to the function as an argument, or let it read a copy (array.copy())",
            "write after the gradient has been taken",
        ],
    )


def explain_locked(error: BaseException) -> None:
    """Add a note and a `.problem` to an error that leaves the block of a tape, if it is about a locked array."""
    from gradtape.explain.kernel.locked_write import explain_refused_write

    explain_refused_write(error, by_tape=True)


def explain_failure(error: Exception) -> None:
    """Add a note and a `.problem` to an error that leaves the block of a tape, if it was raised because of a tensor.

    By SciPy, or by a function of Python's own that takes numbers.
    """
    from gradtape.explain.kernel.foreign_failure import explain_foreign_failure
    from gradtape.explain.kernel.number_failure import explain_number_failure

    if explain_foreign_failure(error) is None:
        explain_number_failure(error)


__all__ = [
    "does_not_fit_in_place",
    "explain_failure",
    "explain_locked",
    "frozen_intermediate",
    "last_refused_conversion",
    "leaf_written",
    "no_derivative_of_dtype",
    "no_length",
    "no_single_truth",
    "not_numbers",
    "not_one_element",
    "objects_among_operands",
    "one_of_a_batch",
    "ragged",
    "read_array_changed",
    "saved_array_changed",
    "silent_detach",
    "sparse_matrix_detached",
    "stored_while_tracked",
    "tracked_parameter",
    "written_into_array",
    "wrong_assigned_dtype",
    "wrong_assigned_shape",
    "wrong_grad_shape",
]
