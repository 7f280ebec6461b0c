"""Errors of function transforms: structures, tangents, results and batches that they do not accept."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from gradtape.errors import GradTapeError, OperandError, ShapeError
from gradtape.explain.messages.build import at, failure, here

Shape = tuple[int, ...]


# -- structures


def different_structures(name: str, other_name: str, path: str, kind: str, other_kind: str) -> GradTapeError:
    """The error for two nested structures that differ, with the path to the first difference."""
    return failure(
        "GT306",
        f"{name} and {other_name} have different structures{f' at {path}' if path else ''}: "
        f"{kind} against {other_kind}",
        fixes=f"give {other_name} the same nesting, lengths and keys as {name}",
    )


# -- forward mode


def primal_not_tensor(primal: Any) -> GradTapeError:
    """The error for a primal of `ForwardAccumulator` that is no tensor."""
    return failure(
        "GT314",
        f"ForwardAccumulator: primals are tensors; got a {type(primal).__name__}",
        fixes="x = gt.tensor(x) before, and compute with that x",
    )


def wrong_tangent_shape(given: Shape, shape: Shape) -> GradTapeError:
    """The error for a tangent whose shape is not that of its primal."""
    return failure(
        "GT301",
        f"a tangent of shape {given} for a primal of shape {shape}",
        fixes=f"a direction has the shape of what moves: {shape}",
    )


# -- transforms


def wrong_argnums(argnums: Any, name: str, count: int) -> GradTapeError:
    """The error for `argnums` that names an argument the call does not have."""
    return failure(
        "GT314",
        f"argnums={argnums!r}: {name} was called with {count} positional argument{'s' * (count != 1)}",
        fixes=f"pass what is differentiated by position, and give argnums from 0 to {max(count - 1, 0)}",
    )


def not_argnums(what: str, given: Any) -> GradTapeError:
    """The error for `argnums` that are no numbers of arguments: most often the argument itself, as in `grad(f, x)`."""
    shape = getattr(given, "shape", None)
    kind = type(given).__name__ + (f" of shape {tuple(shape)}" if isinstance(shape, tuple) and shape else "")
    return failure(
        "GT314",
        f"{what}(function, argnums): argnums is a {kind}; it takes the number of an argument, or several in a tuple",
        fixes=f"gt.{what}(function)(x): a function is returned, which is called with the arguments",
    )


def not_a_pair(name: str, result: Any) -> GradTapeError:
    """The error for a function with `has_aux=True` that does not return (value, aux)."""
    return failure(
        "GT314",
        f"has_aux=True: {name} must return a pair (value, aux); it returned a {type(result).__name__}",
        fixes="return value, aux; or leave has_aux out",
    )


def returned_none(name: str) -> GradTapeError:
    """The error for a function to differentiate that returns None, at the statement that lacks `return`."""
    from gradtape.explain.model.problem import source_edit
    from gradtape.explain.source.expression import UserExpression
    from gradtape.explain.source.files import one_line, unreturned_result

    site = UserExpression.present()
    function = site.source.function(name)
    dropped = None if function is None else unreturned_result(function)
    title = f"{name} returned None; there is nothing to differentiate"
    if dropped is None:
        return failure("GT311", title, fixes="is a return statement missing?")
    statement, value = (site.source.span(part) for part in dropped)
    return failure(
        "GT311",
        f"{title}: what its last line computes is dropped",
        spans=[value, here("asked here")],
        fixes=[source_edit(f"return {one_line(value.text)}", statement)],
    )


def returned_no_number(name: str, output: Any) -> GradTapeError:
    """The error for a function to differentiate that returns a container or an object."""
    from gradtape.explain.source.expression import UserExpression
    from gradtape.explain.source.files import returned_values

    source = UserExpression.present().source
    function = source.function(name)
    values = [] if function is None else returned_values(function)
    return failure(
        "GT311",
        f"{name} must return one number; it returned a {type(output).__name__}",
        spans=[*([source.span(values[0], "returned here")] if len(values) == 1 else []), here("asked here")],
        fixes="return the number that is to be differentiated; other results with has_aux=True",
    )


def check_result_kept(forward: Any, name: str) -> None:
    """Raise if `forward`, which has returned None, ends with a result that it computes and does not return."""
    from gradtape.explain.source.files import find_unreturned_result

    code = getattr(inspect.unwrap(forward), "__code__", None)
    dropped = None if code is None else find_unreturned_result(code)
    if dropped is not None:
        raise failure(
            "GT311",
            f"forward of {name} returned None: what its last line computes is dropped",
            OperandError,
            spans=[dropped, here("called here")],
            fixes=f"return {dropped.text}",
        )


def wrong_slope(function: Any, title: str, fix: str) -> GradTapeError:
    """The right-hand side of a differential equation returned another shape than that of the state."""
    from gradtape.explain.source.files import returned_span

    code = getattr(inspect.unwrap(function), "__code__", None)
    asked = here("asked here")
    made = returned_span(code, "returned here")
    return failure("GT110", title, spans=[made, asked] if made.line and made.line != asked.line else None, fixes=fix)


def returned_many(name: str, output: Any) -> GradTapeError:
    """The error for a function to differentiate that returns several elements."""
    node = getattr(output, "_node", None)
    made = [] if node is None else [at(node.location, "made here")]
    return failure(
        "GT307",
        f"{name} returned shape {output.shape} ({output.size} elements); a gradient is of one number",
        spans=[*made, here("asked here")],
        fixes=[
            ".mean() or .sum() before returning",
            "gt.vjp to weigh the elements",
            "gt.jacobian for the derivative of each",
        ],
    )


def not_tuples(primals: Any, tangents: Any) -> GradTapeError:
    """The error for primals or tangents of `jvp` that are not tuples."""
    return failure(
        "GT314",
        f"jvp: primals and tangents are tuples with one entry for each argument; got a {type(primals).__name__} and "
        f"a {type(tangents).__name__}",
        fixes="gt.jvp(f, (x,), (v,))",
    )


# -- vmap


def differs_between_examples(size: int) -> GradTapeError:
    """The error for `out_axes=None` of a result that depends on the example."""
    return failure(
        "GT314",
        f"out_axes=None for a result that differs between the {size} examples",
        ShapeError,
        fixes="give it an axis, out_axes=0",
    )


def wrong_axes(what: str, axes: Any, count: int | None) -> GradTapeError:
    """The error for `in_axes` or `out_axes` of another structure than what they describe."""
    return failure(
        "GT314",
        f"{what}={axes!r} does not match the structure it describes: "
        f"{'one value' if count is None else f'{count} entries'} here",
        OperandError,
        fixes="one integer for all, or a tuple with an entry (an integer or None) for each",
    )


def no_axis_to_map(called: str, shape: Shape, axis: int) -> GradTapeError:
    """The error for an argument of `vmap` that does not have the axis of `in_axes`."""
    return failure(
        "GT117",
        f"vmap: {called} has shape {shape}, which has no axis {axis} to run over",
        ShapeError,
        fixes="in_axes=None for arguments that are the same for all examples",
    )


def nothing_to_map() -> GradTapeError:
    """The error for `vmap` with `in_axes=None` for all arguments."""
    return failure("GT314", "vmap: in_axes is None for every argument", fixes="give one of them an axis")


def different_batches(arguments: Sequence[tuple[str, Shape, int, int]]) -> GradTapeError:
    """The error for arguments of `vmap` with different numbers of examples."""
    return failure(
        "GT110",
        "vmap: arguments with different numbers of examples",
        ShapeError,
        notes=[
            f"  {called}: shape {shape}, {count} examples along axis {axis}" for called, shape, axis, count in arguments
        ],
        fixes="in_axes=None for those that are the same for all examples",
    )


__all__ = [
    "check_result_kept",
    "different_batches",
    "different_structures",
    "differs_between_examples",
    "no_axis_to_map",
    "not_a_pair",
    "not_argnums",
    "not_tuples",
    "nothing_to_map",
    "primal_not_tensor",
    "returned_many",
    "returned_no_number",
    "returned_none",
    "wrong_argnums",
    "wrong_axes",
    "wrong_slope",
    "wrong_tangent_shape",
]
