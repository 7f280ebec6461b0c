"""Errors of PyTorch about labels and dtypes: what a loss or an operation does not take."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from gradtape.explain.fixes import shape_edits
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, source_edit
from gradtape.explain.model.record import Shape
from gradtape.explain.render.spelling import name_in
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line
from gradtape.watching.torch.layer_errors import append_to, argument_like, call_of, made_by, tensor_operands
from gradtape.watching.torch.operations import WRITE, Rule

# -- labels


LABEL_LOSSES = frozenset(
    [
        "cross_entropy",
        "nll_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "huber_loss",
    ]
)


_TARGET_TYPES = {
    "cross_entropy": "long",
    "nll_loss": "long",
    "binary_cross_entropy": "float",
    "binary_cross_entropy_with_logits": "float",
}


def loss_problem(
    words: str, site: UserExpression, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Problem | None:
    given = dict(zip(("input", "target"), args), **kwargs)
    x, y = given.get("input"), given.get("target")
    if not isinstance(x, torch.Tensor) or not isinstance(y, torch.Tensor):
        return None
    inputs = [x, y]
    operands = site.operands(inputs)
    shapes: list[Shape] = [tuple(x.shape), tuple(y.shape)]
    part = _target_part(site, y)
    is_labels = rule.name in ("cross_entropy", "nll_loss")
    code, title, fixes = "GT118", words.partition("\n")[0], []
    outside = "between 0 and 1" in words
    if outside:
        code = "GT509"
        title = "binary_cross_entropy takes probabilities, and its input is not between 0 and 1"
        fixes = _rename_loss(site, "binary_cross_entropy", "binary_cross_entropy_with_logits")
        fixes.append("binary_cross_entropy_with_logits (nn.BCEWithLogitsLoss), which takes logits")
    elif is_labels and "out of bounds" in words:
        classes = shapes[0][1] if len(shapes[0]) > 1 else shapes[0][0]
        low, high = int(y.min()), int(y.max())
        title = f"the labels go from {low} to {high}, and there are {classes} classes: 0 to {classes - 1}"
        if low >= 1 and high == classes:
            fixes = append_to(site, part, " - 1")
        fixes.append(f"{high + 1} outputs of the last layer, or labels from 0 to {classes - 1}")
    elif is_labels and len(shapes[1]) == len(shapes[0]) and shapes[1] == shapes[0] and not y.is_floating_point():
        code = "GT509"
        title = f"{rule.name} takes the number of the class of each example, and the target {shapes[1]} is one-hot"
        fixes = append_to(site, part, ".argmax(dim=1)")
    elif is_labels and len(shapes[1]) == 2 and shapes[1][1] == 1 and len(shapes[0]) == 2:
        title = f"the labels have shape {shapes[1]}; {rule.name} takes one number for each example, ({shapes[0][0]},)"
        suffix = ".squeeze(1)" if not y.is_floating_point() else ".squeeze(1).long()"
        fixes = append_to(site, part, suffix)
    elif DTYPE_MESSAGE.search(words) or ("not implemented for" in words and "got" not in words):
        code = "GT314"
        wanted = _TARGET_TYPES.get(rule.name, "float")
        title = f"{rule.name}: the target has dtype {_dtype(y)}, the input {_dtype(x)}: {title}"
        if is_labels and y.dtype != torch.int64:
            fixes = append_to(site, part, ".long()")
        elif x.dtype != y.dtype:
            fixes = append_to(site, part, f".{wanted}()" if x.dtype == torch.float32 else f".to({_dtype(x)})")
        fixes.append("class numbers are integers, everything else has the dtype of the input")
    elif is_labels:
        title = f"the input {shapes[0]} and the labels {shapes[1]} do not belong together"
        if len(shapes[0]) > 2 and math.prod(shapes[0][:-1]) == math.prod(shapes[1]):
            fixes.append("the classes are on axis 1: x.movedim(-1, 1), or x.flatten(0, -2) with y.flatten()")
        else:
            fixes.append(f"one label for each example: {(shapes[0][0],)}")
    else:
        matching = shape_edits.for_elementwise(site, operands, shapes)
        title = f"{rule.name} compares element by element: the input has shape {shapes[0]}, the target {shapes[1]}"
        fixes = [*matching, "the same shape for both"]
    return problem(code, title, spans=[site.span], operands=operands, fixes=fixes)


def _dtype(x: Any) -> str:
    return str(x.dtype)


def _target_part(site: UserExpression, y: Any) -> ast.expr | None:
    """The argument of the user's call that is the target."""
    call = call_of(site)
    if call is None:
        return None
    for part in [*call.args, *[k.value for k in call.keywords]]:
        if site.value(part) is y:
            return part
    return call.args[1] if len(call.args) > 1 and not isinstance(call.args[1], ast.Starred) else None


def _rename_loss(site: UserExpression, old: str, new: str) -> list[str]:
    call = call_of(site)
    if call is None:
        return []
    name = site.source.span(call.func)
    text = one_line(name.text)
    return [source_edit(text[: -len(old)] + new, name)] if text.endswith(old) else []


# -- dtypes


DTYPE_MESSAGE = re.compile(
    r"same dtype|expected scalar type|Found dtype|found dtype|can't be cast|should be the same|must have the same dtype"
    r"|expected .* to have dtype|Expected .*tensor for argument .* to have .*scalar type|dtype .* but got|got .*Double"
)


_METHODS = {torch.float32: ".float()", torch.float64: ".double()", torch.int64: ".long()"}


def dtype_problem(
    words: str, site: UserExpression, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any], training: Any
) -> Problem | None:
    inputs = tensor_operands(rule, args, kwargs)
    if not inputs:
        return None
    operands = site.operands(inputs[:2])
    parameter = next((x for x in inputs if isinstance(x, torch.nn.Parameter)), None)
    other = next((x for x in inputs if parameter is not None and x.dtype != parameter.dtype), None)
    fixes: list[str] = []
    title = words.partition("\n")[0]
    spans = [site.span]
    if parameter is not None and other is not None:
        title = f"{rule.name}: the input has dtype {_dtype(other)}, the parameters {_dtype(parameter)}"
        if parameter.dtype in _METHODS:
            fixes += append_to(site, argument_like(site, other), _METHODS[parameter.dtype])
        made, _, _ = made_by(parameter, training)
        if made is not None:
            spans.append(made.labelled("made here"))
    elif len(inputs) > 1 and inputs[0].dtype != inputs[1].dtype:
        title = f"{rule.name}: dtypes {_dtype(inputs[0])} and {_dtype(inputs[1])}"
        parts = site.parts(inputs[:2])
        wanted = torch.promote_types(inputs[0].dtype, inputs[1].dtype)
        index = 0 if inputs[0].dtype != wanted else 1
        if rule.what == WRITE:
            index = 1
            wanted = inputs[0].dtype
        if wanted in _METHODS and index < len(parts):
            fixes += append_to(site, parts[index], _METHODS[wanted])
    return problem(
        "GT314",
        title,
        spans=spans,
        operands=operands,
        fixes=[*fixes, "one dtype for all: x.float() for the data, or model.double() for the model"],
    )


def integer_problem(site: UserExpression) -> Problem:
    """A tensor of integers that is to require a gradient."""
    call = call_of(site)
    fixes: list[str] = []
    if call is not None and isinstance(call.func, ast.Attribute):
        whole = site.source.span(call)
        if call.func.attr == "requires_grad_":
            owner = one_line(site.source.text(call.func.value))
            fixes = [source_edit(f"{owner}.float().requires_grad_()", whole)]
        elif any(k.arg == "requires_grad" for k in call.keywords) and not any(k.arg == "dtype" for k in call.keywords):
            prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "torch")
            fixes = [source_edit(shape_edits.add_argument(one_line(whole.text), f"dtype={prefix}.float32"), whole)]
    return problem(
        "GT310",
        "a tensor of integers cannot require a gradient: only floating point numbers have one",
        spans=[site.span],
        fixes=[*fixes, "numbers with a point, 1.0; or dtype=torch.float32"],
    )


def integers_problem(
    site: UserExpression, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Problem | None:
    """An operation whose result is no integer, such as a mean, of integers."""
    inputs = tensor_operands(rule, args, kwargs)
    if not inputs:
        return None
    operands = site.operands(inputs[:1])
    return problem(
        "GT314",
        f"{rule.name} of {operands[0].name}, which has dtype {_dtype(inputs[0])}: its result would be no integer",
        spans=[site.span],
        operands=operands,
        fixes=[
            *append_to(site, site.parts(inputs[:1])[0], ".float()"),
            "numbers with a point where they are made: 1.0; or dtype=torch.float32",
        ],
    )


def numpy_problem(site: UserExpression, words: str) -> Problem:
    """A tensor that requires a gradient was to become an array."""
    call = call_of(site)
    fixes: list[str] = [*_function_of_torch(site, call)]
    if not fixes and call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "numpy":
        fixes = append_to(site, call.func.value, ".detach()")
    return problem(
        "GT312",
        "NumPy would take the numbers out of a tensor that requires a gradient, which would be lost",
        spans=[site.span],
        fixes=[*fixes, "the function of torch for it keeps the gradient; .detach().numpy() says that it is not needed"],
    )


def _function_of_torch(site: UserExpression, call: ast.Call | None) -> list[Fix]:
    """`torch.mean(x)` for `np.mean(x.numpy())` and `np.mean(x)`, where the function exists with these arguments."""
    outer = None if call is None else site.source.parents.get(call)
    is_method = call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "numpy"
    if not is_method:
        outer = call
    if not isinstance(outer, ast.Call) or not isinstance(outer.func, ast.Attribute) or outer.keywords:
        return []
    module = source_module(site, outer.func)
    name = name_in("torch", outer.func.attr) if module == "numpy" else ""
    prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "")
    if not name or not prefix or len(outer.args) != 1 or not hasattr(torch, name):
        return []
    inner = (
        call.func.value if is_method and call is not None and isinstance(call.func, ast.Attribute) else outer.args[0]
    )
    return [source_edit(f"{prefix}.{name}({one_line(site.source.text(inner))})", site.source.span(outer))]


def source_module(site: UserExpression, function: ast.Attribute) -> str:
    """The module that a function is an attribute of, as the file imports it."""
    return site.source.imports.get(getattr(function.value, "id", ""), "")


__all__ = [
    "DTYPE_MESSAGE",
    "LABEL_LOSSES",
    "dtype_problem",
    "integer_problem",
    "integers_problem",
    "loss_problem",
    "numpy_problem",
]
