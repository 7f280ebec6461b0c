"""PyTorch's own exceptions, explained: the line, the cause and an edit that works.

The exception stays what it is. Its words decide which explanation applies; shapes and names come from the call that
raised it, or, for a backward pass, from the records.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from gradtape.core.location import Location
from gradtape.explain.detectors.shape_mismatch import axis_problem, find_shape_problem, seed_shape_problem
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem, source_edit
from gradtape.explain.model.record import Shape
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.explain.source.parameter_names import name_of
from gradtape.watching.torch.argument_errors import (
    DTYPE_MESSAGE,
    LABEL_LOSSES,
    dtype_problem,
    integer_problem,
    integers_problem,
    loss_problem,
    numpy_problem,
)
from gradtape.watching.torch.engine_errors import out_of_place
from gradtape.watching.torch.layer_errors import call_of, conv_problem, layer_problem, linear_problem, tensor_operands
from gradtape.watching.torch.operations import BACKWARD, WRITE, Rule, params_of
from gradtape.watching.torch.recorder import TorchRecorder
from gradtape.watching.torch.untracked import why_untracked


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
    if "is a view and is being modified inplace" in words or "refers to a single memory location" in words:
        return _shared_write_problem(words, site)
    if rule.name in LABEL_LOSSES:
        return loss_problem(words, site, rule, args, kwargs)
    if "nly Tensors of floating point" in words:
        return integer_problem(site)
    if "could not infer output dtype" in words or "Input dtype must be either a floating" in words:
        return integers_problem(site, rule, args, kwargs)
    if DTYPE_MESSAGE.search(words):
        return dtype_problem(words, site, rule, args, kwargs, training)
    if rule.name == "linear":
        return linear_problem(site, args, kwargs, training)
    if rule.name.startswith("conv"):
        return conv_problem(words, site, args, kwargs, training)
    if rule.name in ("layer_norm", "batch_norm", "group_norm", "embedding"):
        return layer_problem(words, site, rule, args, training)
    if "requires grad. Use" in words or "Can't call numpy()" in words:
        return numpy_problem(site, words)
    if isinstance(error, IndexError) and "Dimension out of range" in words:
        return _axis_problem(words, args)
    return _operation_problem(error, words, site, rule, args, kwargs)


def _operation_problem(
    error: Exception, words: str, site: UserExpression, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Problem | None:
    inputs = tensor_operands(rule, args, kwargs)
    if not inputs or "zero-dimensional tensor" in words:
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
        return _positions_problem(site, operands, shapes, args, kwargs)
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
    call = call_of(site)
    parts = (
        call.args[0].elts if call is not None and call.args and isinstance(call.args[0], ast.List | ast.Tuple) else []
    )
    fixes: list[str] = []
    if len(parts) == 2:
        small, large = (one_line(site.source.text(parts[i])) for i in (index, 1 - index))
        module = next((name for name, held in site.source.imports.items() if held == "torch.nn.functional"), "")
        module = module or next((f"{n}.functional" for n, m in site.source.imports.items() if m == "torch.nn"), "")
        written = f"{module or 'torch.nn.functional'}.interpolate({small}, size={large}.shape[2:])"
        fixes = [Fix(written, _can_join_resized(shapes, index), site.source.span(parts[index]))]
    return problem(
        "GT113",
        f"these shapes cannot be joined along axis 1: {one}, {other}: the axes from 2 on differ",
        spans=[site.span],
        operands=operands,
        fixes=[*fixes, "pad or crop one of them; or sizes that stay even when they are halved"],
    )


def _can_join_resized(shapes: Sequence[Shape], index: int) -> bool:
    """Whether the maps can be joined after the one at `index` was resized: tried on tensors without memory."""
    maps = [torch.empty(shape, device="meta") for shape in shapes]
    try:
        maps[index] = torch.nn.functional.interpolate(maps[index], size=maps[1 - index].shape[2:])
        torch.cat(maps, 1)
    except (RuntimeError, ValueError, NotImplementedError):
        return False
    return True


def _wanted_shape(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Shape | None:
    given = args[1:] if len(args) > 1 else [kwargs.get("shape", kwargs.get("size", ()))]
    flat = given[0] if len(given) == 1 and isinstance(given[0], tuple | list | torch.Size) else given
    return tuple(int(n) for n in flat) if flat and all(isinstance(n, int) for n in flat) else None


def _stride_problem(words: str, site: UserExpression, operands: Any, inputs: Sequence[Any]) -> Problem:
    call = call_of(site)
    offered: list[str] = []
    if call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "view":
        whole = site.source.span(call)
        name = site.source.span(call.func)
        text = one_line(name.text)[: -len("view")] + "reshape" + one_line(whole.text)[len(one_line(name.text)) :]
        offered = [source_edit(text, whole)]
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


def _leaf_write_problem(site: UserExpression, args: Sequence[Any]) -> Problem:
    """A leaf changed in place outside of no_grad: usually an update written by hand."""
    statement = None if site.node is None else site.source.statement(site.node)
    fixes: list[str] = []
    if isinstance(statement, ast.AugAssign | ast.Expr | ast.Assign):
        span = site.source.span(statement)
        if "\n" not in span.text:
            prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "torch")
            fixes = [source_edit(f"with {prefix}.no_grad(): {span.text}", span)]
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


def _shared_write_problem(words: str, site: UserExpression) -> Problem:
    """A write to memory that other tensors read: a part of `unbind` or `split`, or what `expand` has repeated."""
    if "BackwardHookFunction" in words:
        return _hooked_write_problem(site)
    is_part = "is a view and" in words
    return problem(
        "GT309",
        "this tensor is a part of another, made together with the other parts: it cannot be changed in place"
        if is_part
        else "several elements of this tensor are the same number in memory: it cannot be changed in place",
        spans=[site.span],
        consequence="the gradient of the tensor that it is a part of would not be known"
        if is_part
        else "a write to one would be a write to all of them",
        fixes=[
            *out_of_place(site.location),
            "x = x + y makes a new tensor where x += y changes the old one"
            if is_part
            else "x.clone() before the write",
        ],
    )


def _hooked_write_problem(site: UserExpression) -> Problem:
    """A layer that works in place on the output of a layer with a backward hook, which has to stay as it is."""
    nodes = [] if site.source.tree is None else [n for n in ast.walk(site.source.tree) if isinstance(n, ast.Call)]
    writers = [(n, k) for n in nodes for k in n.keywords if k.arg == "inplace" and getattr(k.value, "value", 0) is True]
    hooks = [n for n in nodes if isinstance(n.func, ast.Attribute) and n.func.attr.endswith("backward_hook")]
    fixes: list[str] = []
    if len(writers) == 1:
        fixes = [source_edit("False", site.source.span(writers[0][1].value))]
    spans = [site.source.span(call).labelled("works in place") for call, _ in writers[:2]]
    spans += [site.source.span(call).labelled("the hook is registered here") for call in hooks[:1]]
    return problem(
        "GT309",
        "a layer works in place on the output of one that has a backward hook, which needs it as it was",
        spans=[*spans, site.span.labelled("called here")],
        consequence="the hook would be given the gradient of another tensor",
        fixes=[*fixes, "nn.ReLU() without inplace=True after layers with backward hooks"],
    )


def _positions_problem(
    site: UserExpression, operands: Any, shapes: Sequence[Shape], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Problem | None:
    """`gather` with an index that has fewer axes than what it picks from."""
    if len(shapes) != 2 or len(shapes[0]) == len(shapes[1]):
        return None
    call = call_of(site)
    axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
    fixes: list[str] = []
    if (
        call is not None
        and len(call.args) == 2
        and len(shapes[0]) == 2
        and shapes[1] == shapes[0][:1]
        and axis in (1, -1)
    ):
        whole, index = site.source.span(call), site.source.span(call.args[1])
        text = replace_span(whole, index, f"{one_line(index.text)}[:, None]")
        fixes = [] if text is None else [Fix(f"{text}.squeeze(1)", _can_gather(args, kwargs), whole)]
    return problem(
        "GT115",
        f"gather picks from {shapes[0]} with positions of shape {shapes[1]}: both need the same number of axes",
        spans=[site.span],
        operands=list(operands)[:2],
        fixes=[*fixes, "index.unsqueeze(dim) before, and .squeeze(dim) after, for one position in each row"],
    )


def _can_gather(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether there is an element in each row at the positions, one for a row."""
    given = dict(zip(("input", "dim", "index"), args), **kwargs)
    try:
        with torch.no_grad():
            picked = given["input"].detach().gather(1, given["index"][:, None]).squeeze(1)
            return bool(picked.shape == given["index"].shape)
    except RuntimeError:
        return False


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
        return why_untracked(target, recorder, training.calls, Location.here(), training.registry)
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
        sources = args[1] if len(args) > 1 else kwargs.get("inputs", ())
        return _unwatched_problem(site, [sources] if isinstance(sources, torch.Tensor) else list(sources), recorder)
    return None


def _unwatched_problem(site: UserExpression, sources: Sequence[Any], recorder: TorchRecorder) -> Problem:
    """A gradient is asked for a tensor that requires none: where it was computed or made, and how it gets one there."""
    source = next((x for x in sources if isinstance(x, torch.Tensor) and not x.requires_grad), None)
    name = "" if source is None else name_of(source)
    record = None if source is None else recorder.record_of(source)
    place = record.location if record is not None and record.location.is_known else recorder.made_at(source)
    spans, fixes = [site.span], []
    if place is not None and place.is_known:
        made = site_at(place)
        spans.append(made.span.labelled("made here"))
        if made.node is not None and isinstance(made.source.statement(made.node), ast.Assign | ast.Return):
            text = one_line(made.span.text)
            is_atom = isinstance(made.node, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
            fixes = [source_edit(f"{text if is_atom else f'({text})'}.requires_grad_()", made.span)]
    return problem(
        "GT203",
        f"{name or 'a tensor'} that the gradient is asked for does not require a gradient",
        spans=spans,
        fixes=[*fixes, f"{name or 'x'}.requires_grad_() before it is used"],
    )


def _many_elements_problem(site: UserExpression, target: Any, recorder: TorchRecorder) -> Problem:
    part, _ = site.asked()
    shape = tuple(target.shape)
    fixes: list[str] = []
    if part is not None:
        text = one_line(site.source.text(part))
        atom = isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        with torch.no_grad():
            results = {"mean": target.detach().mean(), "sum": target.detach().sum()}
        fixes = [
            Fix(f"{text if atom else f'({text})'}.{way}()", result.numel() == 1, site.source.span(part))
            for way, result in results.items()
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


__all__ = ["explain_call"]
