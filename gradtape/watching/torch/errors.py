"""PyTorch's own exceptions, explained: the line, the cause and an edit that works.

The exception stays what it is. Its words decide which explanation applies; shapes and names come from the call that
raised it, or, for a backward pass, from the records.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import torch

from gradtape.core.location import Location, is_library
from gradtape.explain.detectors.shape_mismatch import axis_problem, find_shape_problem, seed_shape_problem
from gradtape.explain.fixes import shape_edits
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, Span
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.explain.source.libraries import record_of
from gradtape.explain.source.parameter_names import name_of
from gradtape.watching.record import OperationRecord, WatchedRecord
from gradtape.watching.torch.custom import rule_span
from gradtape.watching.torch.missing import why_not_kept, why_untracked
from gradtape.watching.torch.operations import BACKWARD, WRITE, Rule, params_of, slots_of
from gradtape.watching.torch.recorder import KeptTensor, TorchRecorder, Write, is_plain, storage_key

Shape = tuple[int, ...]


def explain_call(
    error: Exception, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any], recorder: TorchRecorder, training: Any
) -> Problem | None:
    """The explanation of an error that a call of a function of PyTorch raised."""
    words = str(error)
    site = UserExpression.present()
    if rule.what == BACKWARD:
        return _explain_request(words, site, rule, args, kwargs, recorder, training)
    if rule.what == WRITE and "a leaf Variable that requires grad" in words:
        return _leaf_write_problem(site, args)
    if "a view of a leaf Variable that requires grad" in words:
        return _leaf_write_problem(site, args)
    if rule.name in _LABEL_LOSSES:
        return _loss_problem(words, site, rule, args, kwargs)
    if "nly Tensors of floating point" in words:
        return _integer_problem(site)
    if _DTYPE.search(words):
        return _dtype_problem(words, site, rule, args, kwargs, training)
    if rule.name == "linear":
        return _linear_problem(site, args, kwargs, training)
    if rule.name.startswith("conv"):
        return _conv_problem(words, site, args, kwargs, training)
    if rule.name in ("layer_norm", "batch_norm", "group_norm", "embedding"):
        return _layer_problem(words, site, rule, args, training)
    if "requires grad. Use" in words or "Can't call numpy()" in words:
        return _numpy_problem(site, words)
    if isinstance(error, IndexError) and "Dimension out of range" in words:
        return _axis_problem(words, args)
    return _operation_problem(error, words, site, rule, args, kwargs)


# -- shapes


def _tensors(rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    return [x for slot in slots_of(rule, args, kwargs) if isinstance(x := slot.of(args, kwargs), torch.Tensor)]


def _operation_problem(
    error: Exception, words: str, site: UserExpression, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Problem | None:
    inputs = _tensors(rule, args, kwargs)
    if not inputs:
        return None
    operands = site.operands(inputs)
    shapes: list[Shape] = [tuple(x.shape) for x in inputs]
    params: dict[str, Any] = {}
    if rule.name == "reshape":
        wanted = _wanted_shape(args, kwargs)
        if wanted is None or "invalid for input of size" not in words:
            return _stride_problem(words, site, operands, inputs) if "view size is not compatible" in words else None
        params = {"shape": wanted}
        return find_shape_problem(site, operands, shapes, "reshape", rule.kind, params)
    if rule.name == "broadcast_to":
        wanted = _wanted_shape(args, kwargs)
        return None if wanted is None else find_shape_problem(
            site, operands, shapes, "broadcast_to", rule.kind, {"shape": wanted}, words
        )  # fmt: skip
    if rule.name == "getitem" or isinstance(error, IndexError):
        return _index_problem(site, operands, shapes, words)
    if rule.name == "setitem":
        value = args[2] if len(args) > 2 else None
        if not isinstance(value, torch.Tensor):
            return None
        params = {"index": params_of(rule, args, kwargs, args[0])["index"]}
        pair = [args[0], value]
        return find_shape_problem(
            site, site.operands(pair), [tuple(x.shape) for x in pair], "setitem", rule.kind, params, words
        )
    if rule.name == "concatenate" and (resized := _resized_problem(site, operands, shapes, args, kwargs)) is not None:
        return resized
    if rule.name in ("concatenate", "stack", "einsum"):
        params = params_of(rule, args, kwargs, None)
    if rule.name == "take at positions":
        return None
    return find_shape_problem(site, operands, shapes, rule.name, rule.kind, params, words)


def _resized_problem(
    site: UserExpression, operands: Any, shapes: Sequence[Shape], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Problem | None:
    """Feature maps of different height or width that are joined along their channels, as in a U-Net."""
    axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
    if len(shapes) != 2 or axis != 1 or len(shapes[0]) < 3 or len(shapes[0]) != len(shapes[1]):
        return None
    one, other = shapes
    if one[0] != other[0] or one[2:] == other[2:]:
        return None
    index = 0 if math.prod(one[2:]) < math.prod(other[2:]) else 1
    call = _call_of(site)
    parts = (
        call.args[0].elts if call is not None and call.args and isinstance(call.args[0], ast.List | ast.Tuple) else []
    )
    fixes: list[str] = []
    if len(parts) == 2:
        small, large = (one_line(site.source.text(parts[i])) for i in (index, 1 - index))
        module = next((name for name, held in site.source.imports.items() if held == "torch.nn.functional"), "")
        module = module or next((f"{n}.functional" for n, m in site.source.imports.items() if m == "torch.nn"), "")
        written = f"{module or 'torch.nn.functional'}.interpolate({small}, size={large}.shape[2:])"
        fixes = [Fix(written, True, site.source.span(parts[index]))]
    return problem(
        "GT113",
        f"these shapes cannot be joined along axis 1: {one}, {other}: the axes from 2 on differ",
        spans=[site.span],
        operands=operands,
        fixes=[*fixes, "pad or crop one of them; or sizes that stay even when they are halved"],
    )


def _wanted_shape(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Shape | None:
    given = args[1:] if len(args) > 1 else [kwargs.get("shape", kwargs.get("size", ()))]
    flat = given[0] if len(given) == 1 and isinstance(given[0], tuple | list | torch.Size) else given
    return tuple(int(n) for n in flat) if flat and all(isinstance(n, int) for n in flat) else None


def _stride_problem(words: str, site: UserExpression, operands: Any, inputs: Sequence[Any]) -> Problem:
    call = _call_of(site)
    offered: list[str] = []
    if call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "view":
        whole = site.source.span(call)
        name = site.source.span(call.func)
        text = one_line(name.text)[: -len("view")] + "reshape" + one_line(whole.text)[len(one_line(name.text)) :]
        offered = [Fix(text, True, whole)]
    return problem(
        "GT114",
        "view: the elements are not in this order in memory, after a transposition or an expansion",
        spans=[site.span],
        operands=operands,
        fixes=[*offered, "reshape copies where it has to; or .contiguous() before view"],
    )


def _index_problem(site: UserExpression, operands: Any, shapes: Sequence[Shape], words: str) -> Problem:
    beyond = re.search(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)", words)
    many = re.search(r"too many indices for tensor of dimension (\d+)", words)
    out = re.search(r"index out of range in self", words)
    notes: list[str] = []
    name = operands[0].name if operands else "the tensor"
    title = words.partition("\n")[0].rstrip(".")
    offered: list[str] = []
    if beyond:
        _, axis, size = (int(group) for group in beyond.groups())
        notes = [f"axis {axis} of {name} has the indices 0 to {size - 1}, or -{size} to -1"]
        offered = [f"indices up to {size - 1}"]
    elif many:
        title = f"too many indices: {name} has shape {shapes[0]}, which is {many[1]} axes"
        offered = [f"at most {many[1]} indices; None adds an axis of length 1"]
    elif out:
        title = f"an index is not in the table of shape {shapes[-1] if shapes else ()}"
        offered = [f"indices from 0 to {shapes[-1][0] - 1}, or a larger table"] if shapes and shapes[-1] else []
    return problem("GT115", title, spans=[site.span], operands=list(operands)[:2], notes=notes, fixes=offered)


def _axis_problem(words: str, args: Sequence[Any]) -> Problem | None:
    got = re.search(r"but got (-?\d+)", words)
    tensor = next((x for x in args if isinstance(x, torch.Tensor)), None)
    if got is None:
        return None
    return axis_problem(
        int(got[1]), 0 if tensor is None else tensor.dim(), None if tensor is None else tuple(tensor.shape)
    )


# -- layers


def _made_by(parameter: Any, training: Any) -> tuple[Span | None, ast.Call | None, UserExpression | None]:
    """Where the layer that a parameter belongs to was made: the span, and the call if the user wrote it."""
    known = training.registry.find(parameter) if isinstance(parameter, torch.Tensor) else None
    if known is None or not known.location.is_known:
        return None, None, None
    site = site_at(known.location)
    call = _call_of(site)
    return site.span, call if known.by_user else None, site


def _call_of(site: UserExpression) -> ast.Call | None:
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    return node if isinstance(node, ast.Call) else None


def _length_edit(call: ast.Call | None, site: UserExpression | None, names: Sequence[str], length: int) -> list[Fix]:
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
    return [] if part is None else [Fix(str(length), True, site.source.span(part))]


def _layer_operands(site: UserExpression, x: Any) -> list[Any]:
    return [operand for operand in site.operands([x]) if operand.span is not None]


def _linear_problem(
    site: UserExpression, args: Sequence[Any], kwargs: Mapping[str, Any], training: Any
) -> Problem | None:
    given = dict(zip(("input", "weight", "bias"), args), **kwargs)
    x, weight = given.get("input"), given.get("weight")
    if not isinstance(x, torch.Tensor) or not isinstance(weight, torch.Tensor) or weight.dim() != 2:
        return None
    if x.dim() and x.shape[-1] == weight.shape[1]:
        return None
    shape, wanted = tuple(x.shape), int(weight.shape[1])
    made, call, where = _made_by(weight, training)
    fixes: list[str] = []
    argument = _argument_like(site, x)
    if len(shape) > 1 and math.prod(shape[1:]) == wanted:
        fixes += _append_to(site, argument, ".flatten(1)")
    elif len(shape) == 2 and shape[0] == wanted:
        fixes += _append_to(site, argument, ".T")
    elif math.prod(shape) == wanted and len(shape) > 1:
        fixes += _append_to(site, argument, ".flatten()")
    if not fixes and shape:
        fixes += _length_edit(call, where, ("in_features",), shape[-1])
    spans = [site.span.labelled(f"gets {shape}")]
    if made is not None:
        spans.append(made.labelled(f"takes {wanted} features"))
    return problem(
        "GT111",
        f"the layer takes {wanted} features, and its input of shape {shape} has {shape[-1] if shape else 0}",
        spans=spans,
        operands=_layer_operands(site, x),
        fixes=[*fixes, f"{shape[-1] if shape else 0} features for the layer, or an input whose last axis has {wanted}"],
    )


def _argument_like(site: UserExpression, x: Any) -> ast.expr | None:
    """The argument of the user's call that is the tensor `x`, or has its shape."""
    call = _call_of(site)
    if call is None or not call.args or isinstance(call.args[0], ast.Starred):
        return None
    for part in call.args:
        value = site.value(part)
        if value is x or (isinstance(value, torch.Tensor) and value.shape == x.shape):
            return part
    called = call.args[0]
    return called if len(call.args) == 1 and not isinstance(site.value(called), torch.Tensor) else None


def _append_to(site: UserExpression, part: ast.expr | None, suffix: str) -> list[str]:
    """The expression with a method call behind one argument."""
    if part is None or site.node is None:
        return []
    text = one_line(site.source.text(part))
    atom = isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    span = site.source.span(part)
    return [Fix(f"{text if atom else f'({text})'}{suffix}", True, span)]


def _conv_problem(
    words: str, site: UserExpression, args: Sequence[Any], kwargs: Mapping[str, Any], training: Any
) -> Problem | None:
    given = dict(zip(("input", "weight", "bias"), args), **kwargs)
    x, weight = given.get("input"), given.get("weight")
    if not isinstance(x, torch.Tensor) or not isinstance(weight, torch.Tensor):
        return None
    shape, space = tuple(x.shape), weight.dim() - 2
    channels = re.search(r"to have (\d+) channels, but got (\d+) channels", words)
    made, call, where = _made_by(weight, training)
    argument = _argument_like(site, x)
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
            fixes += _append_to(site, argument, f".permute({', '.join(map(str, order))})")
            fixes.append("the channels come before height and width here: x.permute(0, 3, 1, 2)")
        elif len(shape) == space + 1 and wanted == 1:
            fixes += _append_to(site, argument, ".unsqueeze(1)")
        else:
            fixes += _length_edit(call, where, ("in_channels",), has)
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
        operands=_layer_operands(site, x),
        fixes=fixes or [f"an input of {space + 2} axes: examples, channels, then the {space} of the image"],
    )


def _layer_problem(words: str, site: UserExpression, rule: Rule, args: Sequence[Any], training: Any) -> Problem | None:
    x = args[0] if args and isinstance(args[0], torch.Tensor) else None
    weight = next((w for w in args if isinstance(w, torch.nn.Parameter)), None)
    made, call, where = _made_by(weight, training)
    if x is None:
        return None
    if rule.name == "embedding":
        table = next((w for w in args if isinstance(w, torch.Tensor) and w.is_floating_point()), None)
        index = next((w for w in args if isinstance(w, torch.Tensor) and not w.is_floating_point()), None)
        rows = 0 if table is None else table.shape[0]
        largest = None if index is None or not index.numel() else int(index.max())
        spans = [site.span] + ([] if made is None else [made.labelled(f"has {rows} rows")])
        return problem(
            "GT115",
            f"an index is not in the embedding of {rows} rows: the largest is {largest}",
            spans=spans,
            fixes=[
                *_length_edit(call, where, ("num_embeddings",), (largest or 0) + 1),
                f"nn.Embedding({(largest or 0) + 1}, ...) or indices below {rows}",
            ],
        )
    spans = [site.span.labelled(f"gets {tuple(x.shape)}")] + ([] if made is None else [made.labelled("made here")])
    title = words.partition("\n")[0]
    return problem("GT116", title, spans=spans, operands=_layer_operands(site, x), fixes=_layer_advice(words))


def _layer_advice(words: str) -> list[str]:
    if "more than 1 value per channel when training" in words:
        return ["more than one example in a batch (drop_last=True in the DataLoader), or model.eval()"]
    return ["as many features as the layer was made for"]


# -- labels

_LABEL_LOSSES = frozenset(
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


def _loss_problem(
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
            fixes = _append_to(site, part, " - 1")
        fixes.append(f"{high + 1} outputs of the last layer, or labels from 0 to {classes - 1}")
    elif is_labels and len(shapes[1]) == len(shapes[0]) and shapes[1] == shapes[0] and not y.is_floating_point():
        code = "GT509"
        title = f"{rule.name} takes the number of the class of each example, and the target {shapes[1]} is one-hot"
        fixes = _append_to(site, part, ".argmax(dim=1)")
    elif is_labels and len(shapes[1]) == 2 and shapes[1][1] == 1 and len(shapes[0]) == 2:
        title = f"the labels have shape {shapes[1]}; {rule.name} takes one number for each example, ({shapes[0][0]},)"
        suffix = ".squeeze(1)" if not y.is_floating_point() else ".squeeze(1).long()"
        fixes = _append_to(site, part, suffix)
    elif _DTYPE.search(words) or ("not implemented for" in words and "got" not in words):
        code = "GT314"
        wanted = _TARGET_TYPES.get(rule.name, "float")
        title = f"{rule.name}: the target has dtype {_dtype(y)}, the input {_dtype(x)}: {title}"
        if is_labels and y.dtype != torch.int64:
            fixes = _append_to(site, part, ".long()")
        elif x.dtype != y.dtype:
            fixes = _append_to(site, part, f".{wanted}()" if x.dtype == torch.float32 else f".to({_dtype(x)})")
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
    call = _call_of(site)
    if call is None:
        return None
    for part in [*call.args, *[k.value for k in call.keywords]]:
        if site.value(part) is y:
            return part
    return call.args[1] if len(call.args) > 1 and not isinstance(call.args[1], ast.Starred) else None


def _rename_loss(site: UserExpression, old: str, new: str) -> list[str]:
    call = _call_of(site)
    if call is None:
        return []
    name = site.source.span(call.func)
    text = one_line(name.text)
    return [Fix(text[: -len(old)] + new, True, name)] if text.endswith(old) else []


# -- dtypes

_DTYPE = re.compile(
    r"same dtype|expected scalar type|Found dtype|found dtype|can't be cast|should be the same|must have the same dtype"
    r"|expected .* to have dtype|Expected .*tensor for argument .* to have .*scalar type|dtype .* but got|got .*Double"
)
_METHODS = {torch.float32: ".float()", torch.float64: ".double()", torch.int64: ".long()"}


def _dtype_problem(
    words: str, site: UserExpression, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any], training: Any
) -> Problem | None:
    inputs = _tensors(rule, args, kwargs)
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
            fixes += _append_to(site, _argument_like(site, other), _METHODS[parameter.dtype])
        made, _, _ = _made_by(parameter, training)
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
            fixes += _append_to(site, parts[index], _METHODS[wanted])
    return problem(
        "GT314",
        title,
        spans=spans,
        operands=operands,
        fixes=[*fixes, "one dtype for all: x.float() for the data, or model.double() for the model"],
    )


def _integer_problem(site: UserExpression) -> Problem:
    """A tensor of integers that is to require a gradient."""
    call = _call_of(site)
    fixes: list[str] = []
    if call is not None and isinstance(call.func, ast.Attribute):
        whole = site.source.span(call)
        if call.func.attr == "requires_grad_":
            owner = one_line(site.source.text(call.func.value))
            fixes = [Fix(f"{owner}.float().requires_grad_()", True, whole)]
        elif any(k.arg == "requires_grad" for k in call.keywords) and not any(k.arg == "dtype" for k in call.keywords):
            prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "torch")
            fixes = [Fix(shape_edits.add_argument(one_line(whole.text), f"dtype={prefix}.float32"), True, whole)]
    return problem(
        "GT310",
        "a tensor of integers cannot require a gradient: only floating point numbers have one",
        spans=[site.span],
        fixes=[*fixes, "numbers with a point, 1.0; or dtype=torch.float32"],
    )


def _numpy_problem(site: UserExpression, words: str) -> Problem:
    call = _call_of(site)
    fixes: list[str] = []
    if call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "numpy":
        fixes = _append_to(site, call.func.value, ".detach()")
    return problem(
        "GT312",
        "NumPy would take the numbers out of a tensor that requires a gradient, which would be lost",
        spans=[site.span],
        fixes=[*fixes, "the function of torch for it keeps the gradient; .detach().numpy() says that it is not needed"],
    )


def _leaf_write_problem(site: UserExpression, args: Sequence[Any]) -> Problem:
    """A leaf changed in place outside of no_grad: usually an update written by hand."""
    statement = None if site.node is None else site.source.statement(site.node)
    fixes: list[str] = []
    if isinstance(statement, ast.AugAssign | ast.Expr | ast.Assign):
        span = site.source.span(statement)
        if "\n" not in span.text:
            prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "torch")
            fixes = [Fix(f"with {prefix}.no_grad(): {span.text}", True, span)]
    name = name_of(args[0], site) if args else ""
    return problem(
        "GT309",
        f"{name or 'a leaf'} requires a gradient and is changed in place, which its gradient would have to include",
        spans=[site.span],
        consequence="a leaf is where gradients end: it cannot be the result of an operation",
        fixes=[
            *fixes,
            "an update of a parameter stands in torch.no_grad(); everywhere else x = x + y makes a new tensor",
        ],
    )


# -- gradients that were asked for


def _explain_request(
    words: str,
    site: UserExpression,
    rule: Rule,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    recorder: TorchRecorder,
    training: Any,
) -> Problem | None:
    given = args[0] if args else kwargs.get("outputs", kwargs.get("tensors"))
    targets = [given] if isinstance(given, torch.Tensor) else list(given or ())
    target = targets[0] if targets and isinstance(targets[0], torch.Tensor) else None
    if "implicitly created only for scalar outputs" in words and target is not None:
        return _many_elements_problem(site, target, recorder)
    if "does not require grad and does not have a grad_fn" in words and target is not None:
        return why_untracked(target, recorder, training.calls, Location.here())
    mismatch = re.search(r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\(\[(.*?)\]\)", words)
    if mismatch is not None and target is not None:
        seed = tuple(int(n) for n in mismatch[1].split(",") if n.strip())
        what = "gradient" if rule.name == "backward" else "grad_outputs"
        return seed_shape_problem(what, seed, tuple(target.shape), target)
    if "appears to not have been used in the graph" in words:
        sources = args[1] if len(args) > 1 else kwargs.get("inputs", ())
        return _unused_problem(
            site, target, [sources] if isinstance(sources, torch.Tensor) else list(sources), recorder
        )
    if "One of the differentiated Tensors does not require grad" in words:
        return problem(
            "GT203",
            "a tensor that the gradient is asked for does not require a gradient",
            spans=[site.span],
            fixes="x.requires_grad_() before it is used",
        )
    return None


def _many_elements_problem(site: UserExpression, target: Any, recorder: TorchRecorder) -> Problem:
    part, _ = site.asked()
    shape = tuple(target.shape)
    fixes: list[str] = []
    if part is not None:
        text = one_line(site.source.text(part))
        atom = isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        fixes = [
            Fix(f"{text if atom else f'({text})'}.{way}()", True, site.source.span(part)) for way in ("mean", "sum")
        ]
    record = recorder.record_of(target)
    spans = [site.span]
    if record is not None and record.location.is_known and record.operation:
        spans.append(span_of(record.location).labelled(f"has shape {shape}"))
    return problem(
        "GT307",
        f"backward of {shape}: a gradient is of one number, and this has {target.numel()}",
        spans=spans,
        fixes=[*fixes, "a weight for each element: y.backward(torch.ones_like(y)); or reduction='mean' in the loss"],
    )


def _unused_problem(
    site: UserExpression, target: Any, sources: Sequence[Any], recorder: TorchRecorder
) -> Problem | None:
    start = recorder.record_of(target)
    if start is None:
        return None
    for source in sources:
        goal = recorder.record_of(source)
        if goal is None:
            continue
        route = paths.route_back(start, goal, None)
        if route and all(node.is_on(None) for node in route) and not paths.blocked(route):
            continue
        if route:
            from gradtape.explain.detectors.missing_gradient import explain_cut_path

            answer = explain_cut_path(route, recorder).problem
            return answer.with_(spans=[*answer.spans, site.span.labelled("asked for here")])
        name = name_of(source, site) or "the source"
        spans = [site.span]
        if start.location.is_known:
            spans.append(span_of(start.location).labelled("computed here, without it"))
        if goal.location.is_known:
            spans.append(span_of(goal.location).labelled(f"{name} is from here"))
        return problem(
            "GT202",
            f"no gradient: the target was not computed from {name}",
            spans=spans,
            fixes=f"compute the target from {name} itself, not from what it was made of; or allow_unused=True",
        )
    return None


# -- errors of the engine


def explain_error(error: BaseException, recorder: TorchRecorder, training: Any, run: Any = None) -> Problem | None:
    """The explanation of an error of the autograd engine, or of one that ended the program."""
    words = str(error)
    if "Trying to backward through the graph a second time" in words:
        return _second_problem(error, recorder, run)
    if "modified by an inplace operation" in words:
        return _in_place_problem(words, error, recorder, run)
    shape = re.search(
        r"[Ff]unction (\w+?)Backward returned an invalid gradient at index (\d+) - got \[(.*?)\] but expected shape "
        r"compatible with \[(.*?)\]",
        words,
    )
    if shape is not None:
        return _rule_problem(
            "GT302",
            shape[1],
            f"{shape[1]}.backward returns a gradient of shape ({shape[3]}) for argument {shape[2]}, which has shape "
            f"({shape[4]})",
            "the gradient of an argument has its shape: grad_w = grad_output.T @ x, say, where x @ w.T was computed",
            training,
            error,
        )
    number = re.search(
        r"function (\w+?)Backward returned an incorrect number of gradients \(expected (\d+), got (\d+)\)", words
    )
    if number is not None:
        return _rule_problem(
            "GT304",
            number[1],
            f"{number[1]}.backward returns {number[3]} gradient{'s' * (number[3] != '1')}, and forward has {number[2]} "
            "arguments besides ctx",
            "one for each argument of forward, None where there is none",
            training,
            error,
            int(number[2]) - int(number[3]),
        )
    site = _raising_site(error)
    if site is None:
        return None
    module = _module_that_raised(error)
    if module is not None:
        return _module_problem(words, site, module, error, training)
    if isinstance(error, TypeError | AttributeError) and "NoneType" in words:
        reason: Problem | None = training.problem_of_none()
        return reason
    if "can't optimize a non-leaf Tensor" in words:
        held = _local_of_library(error, "param")
        found = why_not_kept(held, recorder) if is_plain(held) else None
        return None if found is None else found.with_(
            title=found.title.replace("no gradient: ", "an optimiser takes leaves: ")
        )  # fmt: skip
    if "does not require grad and does not have a grad_fn" in words:
        part, _ = site.asked()
        target = None if part is None else site.value(part)
        return why_untracked(target, recorder, training.calls, site.location) if is_plain(target) else None
    return None


_SIZES = (
    re.compile(r"input\.size\(-1\) must be equal to input_size\. Expected (?P<wanted>\d+), got (?P<given>\d+)"),
    re.compile(r"input has inconsistent input_size: got (?P<given>\d+),? expected (?P<wanted>\d+)"),
    re.compile(r"expecting embedding dimension of (?P<wanted>\d+), but got (?P<given>\d+)"),
)


def _module_that_raised(error: BaseException) -> Any:
    """The layer of PyTorch's whose own check of its input raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not isinstance(error, RuntimeError | ValueError | AssertionError):
        return None
    frame = trace.tb_frame
    if not frame.f_globals.get("__name__", "").startswith(("torch.nn.modules", "torch.nn.functional")):
        return None
    outer: Any = error.__traceback__
    found = None
    while outer is not None:
        held = outer.tb_frame.f_locals.get("self")
        is_layer = isinstance(held, torch.nn.Module) and type(held).__module__.startswith("torch.nn.modules")
        if is_layer and next(torch.nn.Module.parameters(held), None) is not None:
            found = held
        outer = outer.tb_next
    return found


def _module_problem(
    words: str, site: UserExpression, module: Any, error: BaseException, training: Any
) -> Problem | None:
    """The explanation of an input that a layer refuses before it computes anything."""
    made, call, where = _made_by(next(torch.nn.Module.parameters(module)), training)
    x = next((held for name in ("input", "query", "x", "src") if isinstance(held := _local_of_library(error, name),
             torch.Tensor)), None)  # fmt: skip
    sizes = next((match for pattern in _SIZES if (match := pattern.search(words)) is not None), None)
    fixes: list[str] = []
    title = f"{type(module).__name__}: {words.partition(chr(10))[0]}"
    if sizes is not None and x is not None:
        wanted, given = int(sizes["wanted"]), int(sizes["given"])
        title = (
            f"the {type(module).__name__} takes {wanted} features, and its input of shape {tuple(x.shape)} has {given}"
        )
        fixes = [*_length_edit(call, where, ("input_size", "embed_dim"), given)]
        fixes.append(f"{given} features for the layer, or an input whose last axis has {wanted}")
    spans = [site.span.labelled(f"gets {tuple(x.shape)}" if x is not None else "")]
    if made is not None:
        spans.append(made.labelled("made here"))
    return problem(
        "GT116",
        title,
        spans=spans,
        operands=[] if x is None else _layer_operands(site, x),
        fixes=fixes or ["an input of the shape that the layer was made for; x.shape shows the one that it gets"],
    )


def _raising_site(error: BaseException) -> UserExpression | None:
    """The user's expression that an error passed through last."""
    trace: TracebackType | None = error.__traceback__
    found = None
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            found = UserExpression(trace.tb_frame, trace.tb_lasti)
        trace = trace.tb_next
    return found


def _local_of_library(error: BaseException, name: str) -> Any:
    """A variable of the innermost function of a library that has it, where an error passed through."""
    trace, found = error.__traceback__, None
    while trace is not None:
        found = trace.tb_frame.f_locals.get(name, found)
        trace = trace.tb_next
    return found


def _asked_span(error: BaseException, run: Any) -> list[Span]:
    if run is not None:
        return [span_of(run.location)]
    site = _raising_site(error)
    return [] if site is None else [site.span]


def _second_problem(error: BaseException, recorder: TorchRecorder, run: Any) -> Problem | None:
    asked = _asked_span(error, run)
    freed: list[WatchedRecord] = []
    if run is not None:
        for start in run.records:
            freed += [record for record in paths.all_behind(start) if record.freed is not None]  # type: ignore[misc]
    spans = list(asked)
    if freed:
        last = max(freed, key=lambda record: record.order)
        if last.freed is not None and last.location.is_known:
            spans.append(span_of(last.location).labelled("computed before, and used again"))
            spans += _carried_values(run, freed, UserExpression.present())
        if last.freed is not None and (last.freed.file, last.freed.line) != (spans[0].file, spans[0].line):
            spans.append(span_of(last.freed).labelled("freed here"))
    return problem(
        "GT308",
        "backward a second time through operations whose values the first one has freed",
        spans=spans,
        fixes=[
            "compute again what is needed in every step; h = h.detach() for a state carried from batch to batch",
            "add the losses and call backward once: (loss1 + loss2).backward(); or retain_graph=True for the first",
        ],
    )


def _carried_values(run: Any, freed: Sequence[WatchedRecord], site: UserExpression) -> list[Span]:
    """Where what was freed comes into the second backward: the variable that holds it, and the line that reads it."""
    gone = set(freed)
    behind: dict[Any, None] = {}
    for start in run.records:
        paths.all_behind(start, behind)
    reading = [record for record in behind if record not in gone and any(origin in gone for origin in record.origins())]
    spans = [
        span_of(record.location).labelled("reads it")
        for record in sorted(reading, key=lambda record: record.order)[:2]
        if record.location.is_known and record.operation
    ]
    frame = site.frame
    held = {} if frame is None else {**frame.f_globals, **frame.f_locals}
    for name, value in list(held.items()):
        if not is_plain(value) or not value.requires_grad or record_of(value) not in gone:
            continue
        assigned = [
            node
            for node in ast.walk(site.source.tree or ast.Module([], []))
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]
        ]
        if len(assigned) == 1:
            spans.append(site.source.span(assigned[0]).labelled(f"{name} keeps it"))
    seen: set[tuple[str, int]] = set()
    return [span for span in spans if (span.file, span.line) not in seen and not seen.add((span.file, span.line))]  # type: ignore[func-returns-value]


def _rule_problem(
    code: str, name: str, title: str, advice: str, training: Any, error: BaseException, missing: int = 0
) -> Problem:
    known = training.customs.places.get(name)
    spans: list[Span] = []
    fixes: list[str] = []
    if known is not None:
        returned = rule_span(known[0])
        spans = [returned, span_of(known[1]).labelled("called here")]
        if missing > 0 and returned.column is not None and "\n" not in returned.text:
            fixes = [Fix(f"{returned.text}{', None' * missing}", True, returned)]
    else:
        spans = _asked_span(error, None)
    return problem(code, title, spans=spans, fixes=[*fixes, advice])


# -- changed in place


def _in_place_problem(words: str, error: BaseException, recorder: TorchRecorder, run: Any) -> Problem | None:
    asked = _asked_span(error, run)
    named = re.search(r"\[torch\.\w+ \[(.*?)\]\], which is output (\d+) of (\w+?), is at version (\d+)", words)
    shape = None if named is None else tuple(int(n) for n in named[1].split(",") if n.strip())
    node = "" if named is None else named[3]
    saved, write = _find_overwritten(recorder, run, shape, node)
    spans: list[Span] = []
    fixes: list[str] = []
    if write is not None:
        spans.append(span_of(write.location).labelled(f"changed here, by {write.operation}"))
        fixes = _out_of_place(write)
    if saved is not None and saved.location.is_known:
        spans.append(span_of(saved.location).labelled("saved here for the backward pass"))
    spans += [span.labelled("needed here") for span in asked]
    by_step = write is not None and write.operation.endswith(".step")
    advice = (
        "call backward before the step that changes the parameters; or compute the loss again after it"
        if by_step
        else "x = x + y makes a new tensor where x += y changes the one that is needed; x = x.clone() before a write"
    )
    return problem(
        "GT309",
        "a tensor that the backward pass needs was changed in place after it was saved",
        spans=spans,
        consequence="the gradient would be that of other numbers",
        fixes=[*fixes, advice],
    )


def _find_overwritten(
    recorder: TorchRecorder, run: Any, shape: Shape | None, node: str
) -> tuple[OperationRecord | None, Write | None]:
    """The operation that saved what was overwritten, and the write."""
    if run is None:
        return None, None
    behind: dict[Any, None] = {}
    for start in run.records:
        paths.all_behind(start, behind)
    found: list[tuple[int, OperationRecord, Write]] = []
    for record in behind:
        if not isinstance(record, OperationRecord):
            continue
        for kept in (*record.inputs, record.kept):
            if not isinstance(kept, KeptTensor) or kept.is_current:
                continue
            writes = [w for w in recorder.writes.get(storage_key(kept.bare), ()) if w.order > record.order]
            if not writes:
                continue
            is_result = kept is record.kept and getattr(record, "node_name", "") == node
            fits = shape is None or tuple(kept.bare.shape) == shape
            score = 2 * int(is_result) + int(fits)
            found.append((score, record, writes[0]))
    if not found:
        return None, None
    _, record, write = max(found, key=lambda row: (row[0], row[1].order))
    return record, write


def _out_of_place(write: Write) -> list[str]:
    """`x = x + y` instead of `x += y`, and `x = x.add(y)` instead of `x.add_(y)`."""
    site = site_at(write.location)
    statement = None if site.node is None else site.source.statement(site.node)
    operators: dict[type, str] = {
        ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.Mod: "%"
    }  # fmt: skip
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        symbol = operators.get(type(statement.op))
        value = one_line(site.source.text(statement.value))
        if symbol is None:
            return []
        if isinstance(statement.value, ast.BinOp | ast.IfExp | ast.Compare | ast.BoolOp | ast.Lambda):
            value = f"({value})"
        name = statement.target.id
        return [Fix(f"{name} = {name} {symbol} {value}", True, site.source.span(statement))]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
        owner = call.func.value
        if isinstance(owner, ast.Name) and statement is not None:
            whole, function = site.source.span(call), site.source.span(call.func)
            text = replace_span(whole, function, one_line(function.text)[:-1])
            if text is not None:
                return [Fix(f"{owner.id} = {text}", True, site.source.span(statement))]
    return []


__all__ = ["explain_call", "explain_error"]
