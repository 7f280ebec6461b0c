"""JAX's own errors, explained: what in the user's line they are about, and what to write instead.

The frames of an error that was raised still have their variables: the user's line, and in the first frame of JAX below
it the operands that it was given.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

from gradtape.explain.detectors.shape_mismatch import axis_problem, find_shape_problem, index_problem
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.source.axes import is_elementwise
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line
from gradtape.watching.jax.failures import Failure, call_at, called_name, constant_argument, failure_of, shapes_in
from gradtape.watching.jax.library_errors import (
    explain_batch,
    explain_misuse,
    explain_otherwise,
    explain_tree_arithmetic,
)
from gradtape.watching.jax.operations import function_name
from gradtape.watching.jax.request_errors import explain_request, explain_rule
from gradtape.watching.jax.tracing_errors import explain_conversion

_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.Mod: "remainder",
    ast.FloorDiv: "floor_divide",
}


def explain(error: BaseException, failed: Any = None) -> Problem | None:
    """The explanation of an error of JAX's, which is added to it; None if there is none.

    `failed` is the call of `jax.grad`, `jax.jit` or one of their kind that the error ended.
    """
    known: Problem | None = getattr(error, "problem", None)
    if known is not None:
        return known
    failure = failure_of(error)
    if failure is None:
        return None
    for explainer in _EXPLAINERS:
        found = explainer(failure, failed)
        if found is not None:
            error.problem = found  # type: ignore[attr-defined]
            error.add_note(found.to_text())
            return found
    return None


# -- the operands of the operation that failed


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [array for each in value for array in _arrays(each)]
    return [value] if hasattr(value, "shape") and hasattr(value, "dtype") else []


def _operands_of(failure: Failure) -> list[Any]:
    """The arrays that the function of JAX was called with, in the order of the expression."""
    for inner in failure.below:
        given = inner.f_locals.get("args")
        if "binary_op" in inner.f_code.co_name and isinstance(given, tuple):
            return [*given]
    frame = failure.called
    if frame is None:
        return []
    code = frame.f_code
    count = code.co_argcount
    names = code.co_varnames[:count]
    if code.co_flags & inspect.CO_VARARGS:
        names += (code.co_varnames[count + code.co_kwonlyargcount],)
    found = [array for name in names for array in _arrays(frame.f_locals.get(name))]
    node = failure.site.node.value if isinstance(failure.site.node, ast.Expr) else failure.site.node
    if isinstance(node, ast.BinOp) and len(found) == 2 and _is_reflected(failure.below):
        found.reverse()
    return found


def _is_reflected(frames: Sequence[FrameType]) -> bool:
    return any(frame.f_code.co_name.startswith(("_r", "__r")) for frame in frames[:3])


def _operation_at(site: UserExpression) -> str:
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return _OPERATORS.get(type(node.op), "")
    if isinstance(node, ast.Compare):
        return "less"
    name = function_name(called_name(site))
    return {"hstack": "concatenate", "vstack": "concatenate", "append": "concatenate"}.get(name, name)


def _explain_shapes(failure: Failure, failed: Any) -> Problem | None:
    """Shapes that do not fit in an operation."""
    words, site = failure.words, failure.site
    is_about_shapes = re.search(
        r"shape|dimension|broadcast|contracting|concatenate|stack|Size of label|out of bounds|indices", words
    )
    if not is_about_shapes or not isinstance(failure.error, TypeError | ValueError | IndexError):
        return None
    if failure.called is None or any(
        words.startswith(start) for start in ("Custom", "cond", "scan", "vmap", "Gradient")
    ):
        return None
    inputs = _operands_of(failure)
    if isinstance(failure.error, IndexError):
        return index_problem(site, site.operands(inputs[:1]), words[:1].lower() + words[1:]) if inputs else None
    out_of_bounds = re.search(r"axis (-?\d+) is out of bounds for array of dimension (\d+)", words)
    if out_of_bounds:
        shape = tuple(inputs[0].shape) if inputs else None
        return axis_problem(int(out_of_bounds[1]), int(out_of_bounds[2]), shape, site)
    name, call = _operation_at(site), call_at(site)
    if not inputs and (written := re.search(r"shapes=\[(.*)\]|for broadcasting: (.*)\.|got (\(.*\))\.", words)):
        listed = ast.literal_eval(f"[{next(group for group in written.groups() if group)}]")
        inputs = [np.broadcast_to(np.float32(0), shape) for shape in listed]
    params: dict[str, Any] = {}
    if name in ("concatenate", "stack") and call is not None:
        params["axis"] = constant_argument(site, call, "axis", 1) or 0
    if name == "reshape" and (sizes := re.search(r"into shape (\([\d, -]*\))", words)):
        params["shape"] = ast.literal_eval(sizes[1])
    if name == "einsum" and call is not None and call.args and isinstance(call.args[0], ast.Constant):
        params["subscripts"] = str(call.args[0].value).replace(" ", "")
    if name in ("where", "clip", "maximum", "minimum") or is_elementwise(name):
        kind = "elementwise"
    else:
        kind = ""
    if not inputs:
        return None
    operands = site.operands(inputs)
    shapes = [tuple(x.shape) if hasattr(x, "shape") else () for x in inputs]
    found = find_shape_problem(site, operands, shapes, name, kind, params, words)
    if found is None and "contracting" in words and len(shapes) == 2:
        found = find_shape_problem(site, operands, shapes, "matmul", "", params, words)
    if found is None:
        return problem("GT110", words.partition("\n")[0].rstrip("."), spans=[site.span], operands=operands)
    return found


# -- writes, structures, transformations


def _explain_write(failure: Failure, failed: Any) -> Problem | None:
    """`x[0] = 1` on an array of JAX, which is immutable."""
    if "immutable" not in failure.words:
        return None
    site = failure.site
    source = site.source
    node: Any = site.node
    statement = None if node is None else source.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    offered: list[str] = []
    if isinstance(target, ast.Subscript) and isinstance(statement, ast.Assign | ast.AugAssign):
        array, index = one_line(source.text(target.value)), one_line(source.text(target.slice))
        value = one_line(source.text(statement.value))
        methods = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.Sub: "add"}
        method = "set" if isinstance(statement, ast.Assign) else methods.get(type(statement.op), "")
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Sub):
            value = f"-({value})"
        if method and isinstance(target.value, ast.Name | ast.Attribute):
            offered = [source_edit(f"{array} = {array}.at[{index}].{method}({value})", source.span(statement))]
    span = site.span if statement is None else source.span(statement)
    return problem(
        "GT309",
        "an array of JAX is written to in place, and cannot be changed",
        spans=[span],
        consequence="x.at[index].set(value) gives a new array, through which gradients flow",
        fixes=offered or ["x = x.at[index].set(value), or .add(value)"],
    )


def _explain_structure(failure: Failure, failed: Any) -> Problem | None:
    """Branches, carries, trees and mapped axes that do not match."""
    words, site = failure.words, failure.site
    first = words.partition("\n")[0].rstrip(".:")
    shapes = shapes_in(words)
    if words.startswith("vmap got inconsistent sizes"):
        lines = [line.strip(" *;") for line in words.splitlines()[1:]]
        return problem(
            "GT110",
            "vmap maps over axes of different lengths",
            spans=[site.span],
            notes=lines[:4],
            fixes="in_axes=(0, None) for an argument that is the same for all examples",
        )
    if words.startswith(("cond branches", "scan body", "body_fun", "while_loop", "switch branches", "scan carry")):
        differ = f": {shapes[0]} and {shapes[1]}" if len(shapes) > 1 and shapes[0] != shapes[1] else ""
        return problem(
            "GT306",
            f"{first}{differ}",
            spans=[site.span],
            fixes="return the same shapes and dtypes everywhere: jnp.zeros_like, astype, broadcast_to help",
        )
    if "pytree structure error" in words or "pytree" in first or "Dict key mismatch" in words:
        return problem(
            "GT306",
            "two trees of arrays do not have the same structure",
            spans=[site.span],
            notes=[line.strip() for line in words.splitlines()[1:7] if line.strip()][:4],
            fixes="the same keys and lengths in both: jax.tree.structure(a) shows them",
        )
    return None


def _explain_argument(failure: Failure, failed: Any) -> Problem | None:
    """Arguments that are no arrays, or are not there."""
    words, site = failure.words, failure.site
    first = words.partition("\n")[0].rstrip(".")
    if "is not a valid JAX type" in words or "requires ndarray or scalar arguments" in words:
        advice = "arrays and numbers only: jnp.asarray(list); static_argnums, or a closure, for what is no array"
        return problem("GT314", first, spans=[site.span], fixes=advice)
    if "Slice entries must be static" in words or "slice indices must have static start/stop/step" in words:
        return problem(
            "GT314",
            f"{one_line(site.span.text)}: the bounds of a slice are needed while JAX traces the function, and one is "
            "traced",
            spans=[site.span],
            consequence="the shape of the result would depend on a number that is not known yet: JAX refuses",
            fixes=[
                "jax.jit(f, static_argnums=...) makes an argument a number; a closure does so as well",
                "jax.lax.dynamic_slice_in_dim(x, start, size) for a start that is computed; jnp.where(jnp.arange(n) < "
                "k, x, 0.0) keeps the shape",
            ],
        )
    refused = _NO_ARRAY.search(words)
    if refused is not None or "is not a valid JAX type" in words:
        return _no_array_problem(failure, refused)
    if words.startswith("differentiating with respect to argnums"):
        return problem("GT314", first, spans=[site.span], fixes="argnums counts positional arguments from 0")
    return None


_NO_ARRAY = re.compile(r"abstract array. The problematic value is of type <class '([^']+)'>.*at path (\w+)")


def _no_array_problem(failure: Failure, refused: re.Match[str] | None) -> Problem | None:
    """An argument of a compiled function that is no array: the object of a method, a text, a function."""
    site, words = failure.site, failure.words
    if refused is None:
        return problem(
            "GT314",
            words.partition("\n")[0].partition(". ")[0],
            spans=[site.span],
            fixes="leave it out of what is differentiated or compiled: static_argnums, a closure, or a tree of its own",
        )
    kind, name = refused[1].rpartition(".")[2], refused[2]
    spans = [site.span]
    tree = site.source.tree
    methods = [
        node
        for node in ([] if tree is None else ast.walk(tree))
        if isinstance(node, ast.FunctionDef) and node.decorator_list and node.args.args
        and node.args.args[0].arg == name
        and any("jit" in site.source.text(each) for each in node.decorator_list)
    ]  # fmt: skip
    if len(methods) == 1:
        spans.append(site.source.span(methods[0].decorator_list[0]).labelled("compiled here"))
    advice = "functools.partial(jax.jit, static_argnums=0) above a method takes self as it is, and it must not change"
    return problem(
        "GT314",
        f"{name} is an object of class {kind}, and jax.jit takes arrays and trees of them",
        spans=spans,
        fixes=[
            advice if name == "self" else f"jax.jit(f, static_argnames={name!r}) takes it as it is",
            "jax.tree_util.register_dataclass, or a class of flax or equinox, makes it a tree of arrays",
        ],
    )


_EXPLAINERS: tuple[Callable[[Failure, Any], Problem | None], ...] = (
    explain_conversion,
    explain_request,
    explain_rule,
    explain_tree_arithmetic,
    explain_misuse,
    _explain_write,
    _explain_structure,
    _explain_argument,
    explain_batch,
    _explain_shapes,
    explain_otherwise,
)


__all__ = ["explain"]
