"""Errors of PyTorch's layers: sizes that do not fit, and the line where the layer was made."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span, source_edit
from gradtape.explain.source.expression import UserExpression, site_at
from gradtape.explain.source.files import one_line
from gradtape.watching.torch.operations import Rule, slots_of

# -- shapes


def tensor_operands(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    return [x for slot in slots_of(rule, args, kwargs) if isinstance(x := slot.of(args, kwargs), torch.Tensor)]


# -- layers


def made_by(parameter: Any, training: Any) -> tuple[Span | None, ast.Call | None, UserExpression | None]:
    """Where the layer that a parameter belongs to was made: the span, and the call if the user wrote it."""
    known = training.registry.find(parameter) if isinstance(parameter, torch.Tensor) else None
    if known is None or not known.location.is_known:
        return None, None, None
    site = site_at(known.location)
    call = call_of(site)
    return site.span, call if known.by_user else None, site


def call_of(site: UserExpression) -> ast.Call | None:
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    return node if isinstance(node, ast.Call) else None


def length_edit(call: ast.Call | None, site: UserExpression | None, names: Sequence[str], length: int) -> list[Fix]:
    """The first argument of the call that made a layer, or the named one, replaced by a number."""
    if call is None or site is None:
        return []
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    kinds = ("Linear", "Conv", "BatchNorm", "LayerNorm", "Bilinear", "Embedding", "LSTM", "GRU", "RNN")
    if not called.startswith(kinds):
        return []
    part = next((k.value for k in call.keywords if k.arg in names), None)
    if part is None and call.args and not isinstance(call.args[0], ast.Starred):
        part = call.args[0]
    return [] if part is None else [source_edit(str(length), site.source.span(part))]


def layer_operands(site: UserExpression, x: Any) -> list[Any]:
    return [operand for operand in site.operands([x]) if operand.span is not None]


def linear_problem(
    site: UserExpression, args: Sequence[Any], kwargs: Mapping[str, Any], training: Any
) -> Problem | None:
    given = dict(zip(("input", "weight", "bias"), args), **kwargs)
    x, weight = given.get("input"), given.get("weight")
    if not isinstance(x, torch.Tensor) or not isinstance(weight, torch.Tensor) or weight.dim() != 2:
        return None
    if x.dim() and x.shape[-1] == weight.shape[1]:
        return None
    shape, wanted = tuple(x.shape), int(weight.shape[1])
    made, call, where = made_by(weight, training)
    fixes: list[str] = []
    argument = argument_like(site, x)
    if len(shape) > 1 and math.prod(shape[1:]) == wanted:
        fixes += append_to(site, argument, ".flatten(1)")
    elif len(shape) == 2 and shape[0] == wanted:
        fixes += append_to(site, argument, ".T")
    elif math.prod(shape) == wanted and len(shape) > 1:
        fixes += append_to(site, argument, ".flatten()")
    if not fixes and shape:
        fixes += length_edit(call, where, ("in_features",), shape[-1])
    spans = [site.span.labelled(f"gets {shape}")]
    if made is not None:
        spans.append(made.labelled(f"takes {wanted} features"))
    return problem(
        "GT111",
        f"the layer takes {wanted} features, and its input of shape {shape} has {shape[-1] if shape else 0}",
        spans=spans,
        operands=layer_operands(site, x),
        fixes=[*fixes, f"{shape[-1] if shape else 0} features for the layer, or an input whose last axis has {wanted}"],
    )


def argument_like(site: UserExpression, x: Any) -> ast.expr | None:
    """The argument of the user's call that is the tensor `x`, or has its shape."""
    call = call_of(site)
    if call is None or not call.args or isinstance(call.args[0], ast.Starred):
        return None
    for part in call.args:
        value = site.value(part)
        if value is x or (isinstance(value, torch.Tensor) and value.shape == x.shape):
            return part
    called = call.args[0]
    return called if len(call.args) == 1 and not isinstance(site.value(called), torch.Tensor) else None


def append_to(site: UserExpression, part: ast.expr | None, suffix: str) -> list[str]:
    """The expression with a method call behind one argument."""
    if part is None or site.node is None:
        return []
    text = one_line(site.source.text(part))
    atom = isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    span = site.source.span(part)
    return [source_edit(f"{text if atom else f'({text})'}{suffix}", span)]


def conv_problem(
    words: str, site: UserExpression, args: Sequence[Any], kwargs: Mapping[str, Any], training: Any
) -> Problem | None:
    given = dict(zip(("input", "weight", "bias"), args), **kwargs)
    x, weight = given.get("input"), given.get("weight")
    if not isinstance(x, torch.Tensor) or not isinstance(weight, torch.Tensor):
        return None
    shape, space = tuple(x.shape), weight.dim() - 2
    channels = re.search(r"to have (\d+) channels, but got (\d+) channels", words)
    made, call, where = made_by(weight, training)
    argument = argument_like(site, x)
    fixes: list[str] = []
    spans = [site.span.labelled(f"gets {shape}")]
    if made is not None:
        spans.append(made.labelled("made here"))
    title = words.partition("\n")[0]
    if channels:
        wanted, has = int(channels[1]), int(channels[2])
        title = (
            f"the convolution takes {wanted} channels, on axis {-space - 1}, and its input of shape {shape} has {has}"
        )
        if len(shape) == space + 2 and shape[-1] == wanted:
            order = [0, space + 1, *range(1, space + 1)]
            fixes += append_to(site, argument, f".permute({', '.join(map(str, order))})")
            fixes.append("the channels come before height and width here: x.permute(0, 3, 1, 2)")
        elif len(shape) == space + 1 and wanted == 1:
            fixes += append_to(site, argument, ".unsqueeze(1)")
        else:
            fixes += length_edit(call, where, ("in_channels",), has)
    elif len(shape) not in (space + 1, space + 2):
        title = (
            f"the convolution takes {space + 1} or {space + 2} axes, and its input of shape {shape} has {len(shape)}"
        )
    elif "Kernel size can't be greater than actual input size" in words:
        title = f"the kernel {tuple(weight.shape[2:])} is larger than the input of shape {shape}, with its padding"
        fixes.append("less pooling before it, a smaller kernel, or padding=")
    return problem(
        "GT116",
        title,
        spans=spans,
        operands=layer_operands(site, x),
        fixes=fixes or [f"an input of {space + 2} axes: examples, channels, then the {space} of the image"],
    )


def layer_problem(words: str, site: UserExpression, rule: Rule, args: Sequence[Any], training: Any) -> Problem | None:
    x = args[0] if args and isinstance(args[0], torch.Tensor) else None
    weight = next((w for w in args if isinstance(w, torch.nn.Parameter)), None)
    made, call, where = made_by(weight, training)
    if x is None:
        return None
    if rule.name == "embedding":
        table = next((w for w in args if isinstance(w, torch.Tensor) and w.is_floating_point()), None)
        index = next((w for w in args if isinstance(w, torch.Tensor) and not w.is_floating_point()), None)
        rows = 0 if table is None else table.shape[0]
        largest = None if index is None or not index.numel() else int(index.max())
        smallest = 0 if index is None or not index.numel() else int(index.min())
        spans = [site.span] + ([] if made is None else [made.labelled(f"has {rows} rows")])
        if smallest < 0:
            return problem(
                "GT115",
                f"an index is not in the embedding of {rows} rows: the smallest is {smallest}",
                spans=spans,
                fixes=[
                    *append_to(site, argument_like(site, index), ".clamp(min=0)"),
                    "indices from 0 on: a row of its own for the padding, and padding_idx= for it",
                ],
            )
        return problem(
            "GT115",
            f"an index is not in the embedding of {rows} rows: the largest is {largest}",
            spans=spans,
            fixes=[
                *length_edit(call, where, ("num_embeddings",), (largest or 0) + 1),
                f"nn.Embedding({(largest or 0) + 1}, ...) or indices below {rows}",
            ],
        )
    spans = [site.span.labelled(f"gets {tuple(x.shape)}")] + ([] if made is None else [made.labelled("made here")])
    title = words.partition("\n")[0]
    return problem("GT116", title, spans=spans, operands=layer_operands(site, x), fixes=_layer_advice(words))


def _layer_advice(words: str) -> list[str]:
    if "more than 1 value per channel when training" in words:
        return ["more than one example in a batch (drop_last=True in the DataLoader), or model.eval()"]
    return ["as many features as the layer was made for"]


__all__ = [
    "append_to",
    "argument_like",
    "call_of",
    "conv_problem",
    "layer_operands",
    "layer_problem",
    "length_edit",
    "linear_problem",
    "made_by",
    "tensor_operands",
]
