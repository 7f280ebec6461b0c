"""Errors that Python or PyTorch raised in the program's own expressions: what was used is no tensor, or not one number.

A tuple in the place of a tensor, a gradient that is None yet, a comparison of many elements in an `if`, an optimiser
that was given nothing, a loss that is a class or a number.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Iterator
from typing import Any

import torch

from gradtape.explain.graph.cuts import fix_for
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span, source_edit
from gradtape.explain.source.expression import UserExpression, replace_span
from gradtape.explain.source.files import one_line, source_of, span_of
from gradtape.watching.torch.recorder import TorchRecorder, is_leaf, is_plain

_NOT_A_TENSOR = re.compile(r"argument '(\w+)' \(position \d+\) must be Tensor, not (tuple|list|dict)")
_SEQUENCES = re.compile(
    r"can't multiply sequence by|can only concatenate tuple|'(tuple|list|torch\.return_types\.\w+)' object has no attr"
    r"|unsupported operand type\(s\) for .*'(tuple|torch\.return_types\.\w+)'|expected Tensor as .* but got tuple"
)
_NO_PARAMETERS = "optimizer got an empty parameter list"
_NOT_ITERABLE = re.compile(r"'(method|function|builtin_function_or_method)' object is not iterable")


def explain_program_error(
    error: BaseException, words: str, site: UserExpression, recorder: TorchRecorder
) -> Problem | None:
    """The explanation of an error of the program's own expression; None if there is none."""
    if isinstance(error, AttributeError) and re.search(r"'(float|int)' object has no attribute 'backward'", words):
        return _number_problem(site, recorder)
    if isinstance(error, TypeError) and (refused := _NOT_A_TENSOR.search(words)) is not None:
        return _not_a_tensor_problem(refused[1], refused[2], site, error)
    if isinstance(error, TypeError | AttributeError) and _SEQUENCES.search(words):
        return _tuple_problem(site)
    if "Boolean value of Tensor with more than one value" in words:
        return _loss_class_problem(site, error) or _condition_problem(site)
    if _NO_PARAMETERS in words:
        return _no_parameters_problem(site)
    if isinstance(error, TypeError) and _NOT_ITERABLE.search(words):
        return _method_problem(site)
    if isinstance(error, TypeError | AttributeError) and "NoneType" in words:
        return _no_gradient_yet_problem(site, recorder)
    return None


def parts_of(site: UserExpression) -> Iterator[ast.expr]:
    """The expressions of the statement that raised, the outermost first."""
    statement = None if site.node is None else site.source.statement(site.node)
    for node in () if statement is None else ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node


# -- numbers and classes


def _number_problem(site: UserExpression, recorder: TorchRecorder) -> Problem | None:
    """`backward` of a number, which has left the graph by `.item()` or `float()`."""
    if not recorder.departures:
        return None
    departure = recorder.departures[-1]
    return problem(
        "GT210",
        f"backward of a number: the tensor with the history was given up at {departure.reason}",
        spans=[span_of(departure.location).labelled("a number from here on"), site.span.labelled("asked for here")],
        consequence="a number of Python has no history to walk back",
        fixes=[fix_for(departure, is_tape=False), "take the number where it is printed: loss.item()"],
    )


def _loss_class_problem(site: UserExpression, error: BaseException) -> Problem | None:
    """The class of a loss that was given predictions and targets, in place of an instance of it."""
    trace, name = error.__traceback__, ""
    while trace is not None:
        made = trace.tb_frame.f_locals.get("self") if trace.tb_frame.f_code.co_name == "__init__" else None
        if type(made).__module__ == "torch.nn.modules.loss":
            name = type(made).__name__
        trace = trace.tb_next
    if not name:
        return None
    fixes: list[str] = []
    if isinstance(site.node, ast.Call):
        whole, function = site.source.span(site.node), site.source.span(site.node.func)
        text = replace_span(whole, function, f"{one_line(function.text)}()")
        fixes = [] if text is None else [source_edit(text, whole)]
    return problem(
        "GT314",
        f"{name} is a class: its arguments are settings such as weight and reduction, and it was given tensors",
        spans=[site.span],
        fixes=[*fixes, f"criterion = nn.{name}() once, then loss = criterion(predictions, targets)"],
    )


def _condition_problem(site: UserExpression) -> Problem:
    """A tensor of several elements in an `if`, `while`, `and`, `or` or `not`."""
    statement = None if site.node is None else site.source.statement(site.node)
    test = getattr(statement, "test", None)
    text = one_line(site.source.text(test)) if isinstance(test, ast.expr) else "the condition"
    value = site.value(test) if isinstance(test, ast.expr) else None
    count = f"{value.numel()} " if isinstance(value, torch.Tensor) else ""
    prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "torch")
    return problem(
        "GT314",
        f"one yes or no is asked of the {count}elements of {text}",
        spans=[site.span],
        fixes=[
            f"{prefix}.where({text}, a, b) chooses for each element, and keeps the gradients of both",
            f"({text}).all() or ({text}).any() for one answer",
        ],
    )


# -- tuples


def _describe(value: Any) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else f"a {type(value).__name__}"


def _not_a_tensor_problem(argument: str, kind: str, site: UserExpression, error: BaseException) -> Problem:
    """A tuple where a layer takes a tensor, such as what an LSTM returns."""
    given = local_of_library(error, argument)
    held = given if type(given).__name__ == kind and kind != "dict" else ()
    parts = [_describe(x) for x in held]
    call = site.node if isinstance(site.node, ast.Call) else None
    fixes: list[str] = []
    if kind == "tuple" and held and isinstance(held[0], torch.Tensor) and call is not None and len(call.args) == 1:
        part = call.args[0]
        if isinstance(part, ast.Name):
            fixes = [source_edit(f"{part.id}[0]", site.source.span(part))]
    return problem(
        "GT314",
        f"the argument {argument} is a {kind}, not a tensor" + (f": {', '.join(parts[:3])}" if parts else ""),
        spans=[site.span],
        notes=["recurrent layers and attention return a tuple: what they computed, and their state or weights"],
        fixes=[*fixes, "take the tuple apart where it is made: out, state = layer(x)"],
    )


def _tuple_problem(site: UserExpression) -> Problem | None:
    """A tuple of tensors, such as what `torch.max(x, dim=1)` or an LSTM returns, that is used like a tensor."""
    for part in parts_of(site):
        value = site.value(part)
        if not isinstance(value, tuple | list) or not any(isinstance(x, torch.Tensor) for x in value):
            continue
        name = one_line(site.source.text(part))
        held = ", ".join(_describe(x) for x in value[:3])
        is_named = hasattr(value, "values") and hasattr(value, "indices")
        suffix = ".values" if is_named else "[0]"
        made = site.binding(part)
        spans = [site.span]
        if made is not None and made.place != site.span.place:
            spans.append(made.labelled("made here"))
        return problem(
            "GT314",
            f"{name} is a {'tuple' if isinstance(value, tuple) else 'list'} of {len(value)}, not a tensor: {held}",
            spans=spans,
            notes=["max, min, sort and topk along an axis return the values and their positions"] if is_named else [],
            fixes=[
                source_edit(f"{name}{suffix}", site.source.span(part)),
                "take the tuple apart where it is made: values, positions = torch.max(x, dim=1)"
                if is_named
                else "take the tuple apart where it is made: out, state = layer(x); or torch.stack(list)",
            ],
        )
    return None


# -- optimisers without parameters


def _optimiser_argument(site: UserExpression) -> ast.expr | None:
    """What the user's call gives to an optimiser as its parameters."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return None
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "params"), None)


def _no_parameters_problem(site: UserExpression) -> Problem:
    """An optimiser was given no parameters: a generator that was read before, or a module that has none."""
    part = _optimiser_argument(site)
    name = "it" if part is None else one_line(site.source.text(part))
    value = None if part is None else site.value(part)
    made = None if part is None else site.binding(part)
    if isinstance(value, types.GeneratorType):
        spans = [site.span]
        fixes: list[str] = []
        if made is not None:
            spans.append(made.labelled("a generator, which can be read once"))
            spans += _uses_between(made, site, name)
            if isinstance(source_of(made.file).at(made), ast.Call):
                fixes = [source_edit(f"list({one_line(made.text)})", made)]
        return problem(
            "GT513",
            f"the optimiser gets no parameters: {name} is a generator that has been read to its end",
            spans=spans,
            fixes=[*fixes, "give each reader its own: model.parameters() again for the optimiser"],
        )
    owner = part.func.value if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) else None
    module = None if owner is None else site.value(owner)
    notes: list[str] = []
    if isinstance(module, torch.nn.Module):
        plain = [
            key
            for key, held in vars(module).items()
            if isinstance(held, list | tuple | dict) and not key.startswith("_")
            and any(isinstance(x, torch.nn.Module | torch.Tensor) for x in (held.values() if isinstance(held, dict)
                    else held))
        ]  # fmt: skip
        notes = [f"the layers in {type(module).__name__}.{key} are in a plain container" for key in plain]
    return problem(
        "GT513",
        f"the optimiser gets no parameters: {name} has none",
        spans=[site.span],
        notes=notes,
        fixes="nn.Parameter, nn.ModuleList and nn.ModuleDict as attributes of the module are what parameters() has",
    )


def _uses_between(made: Span, site: UserExpression, name: str) -> list[Span]:
    """The expressions between two places that read a name."""
    tree = site.source.tree
    return [
        site.source.span(node).labelled("read here")
        for node in ([] if tree is None else ast.walk(tree))
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        and made.line < node.lineno < site.span.line
    ][:1]  # fmt: skip


def _method_problem(site: UserExpression) -> Problem | None:
    """`model.parameters` in the place of `model.parameters()`."""
    for part in parts_of(site):
        owner = site.value(part.value) if isinstance(part, ast.Attribute) else None
        if not isinstance(part, ast.Attribute) or not isinstance(owner, torch.nn.Module):
            continue
        if not isinstance(getattr(type(owner), part.attr, None), types.FunctionType):
            continue
        parent = site.source.parents.get(part)
        if isinstance(parent, ast.Call) and parent.func is part:
            continue
        name = one_line(site.source.text(part))
        return problem(
            "GT314",
            f"{name} is a method, and is given in the place of what it returns",
            spans=[site.span],
            fixes=[source_edit(f"{name}()", site.source.span(part)), "call it: model.parameters()"],
        )
    return None


# -- gradients that are not there yet


def _not_required_problem(
    site: UserExpression, part: ast.Attribute, leaf: Any, name: str, recorder: TorchRecorder
) -> Problem:
    """The gradient of a tensor is used that was never told to require one."""
    known = recorder.made.get(id(leaf))
    made = span_of(known[1]) if known is not None and known[0]() is leaf and known[1].is_known else None
    made = made if made is not None else site.binding(part.value)
    fixes: list[str] = []
    node = None if made is None else source_of(made.file).at(made)
    if made is not None and isinstance(node, ast.Call) and leaf.is_floating_point() and "\n" not in made.text:
        fixes = [source_edit(f"{one_line(made.text)}.requires_grad_()", made)]
    return problem(
        "GT203",
        f"{name}.grad is None: {name} does not require a gradient",
        spans=[site.span, *([] if made is None else [made.labelled("made here")])],
        consequence="backward() computes gradients for the leaves only that require one: parameters do, data does not",
        fixes=[*fixes, f"{name}.requires_grad_() before it is used"],
    )


def _no_gradient_yet_problem(site: UserExpression, recorder: TorchRecorder) -> Problem | None:
    """`w.grad` is used before the first backward pass."""
    for part in parts_of(site):
        if not isinstance(part, ast.Attribute) or part.attr != "grad":
            continue
        leaf = site.value(part.value)
        name = one_line(site.source.text(part.value))
        if is_plain(leaf) and not leaf.requires_grad:
            return _not_required_problem(site, part, leaf, name, recorder)
        if not is_plain(leaf) or not is_leaf(leaf) or leaf.grad is not None:
            continue
        return problem(
            "GT201",
            f"{name}.grad is None: no backward() has reached {name} yet",
            spans=[site.span],
            consequence="a gradient is there after the first backward pass, and None again after zero_grad()",
            fixes=[
                f"{name}.grad = None needs no gradient; or if {name}.grad is not None: {name}.grad.zero_()",
                "use the gradient after loss.backward()",
            ],
        )
    return None


def local_of_library(error: BaseException, name: str) -> Any:
    """A variable of the innermost function of a library that has it, where an error passed through."""
    trace, found = error.__traceback__, None
    while trace is not None:
        found = trace.tb_frame.f_locals.get(name, found)
        trace = trace.tb_next
    return found


__all__ = ["explain_program_error", "local_of_library"]
