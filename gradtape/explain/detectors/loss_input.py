"""Detector: a loss was given probabilities where it takes logits, or logits where it takes log-probabilities.

Nothing fails: the loss is a number, and even falls. The condition is checked by the losses themselves
(`gradtape.ops.loss_checks`); this module builds the problem.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Span, source_edit
from gradtape.explain.model.record import Record
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line
from gradtape.explain.source.libraries import array_of, record_of

_SOFTMAXES = ("softmax",)
_SIGMOIDS = ("sigmoid", "expit")


_OF_LOGITS = ("pos_weight", "label_smoothing")
"""Arguments that losses of logits take, and those of probabilities or their logarithms do not."""


def warn_softmax_twice(name: str, input: Any, axis: int, made: Record | None = None) -> None:
    """Warn of `cross_entropy` of a softmax, or of a softmax of a softmax; `made` is the record of the first one."""
    site = UserExpression.present()
    made = _producer(record_of(input), "softmax") if made is None else made
    what, wrapped = _first_argument(site)
    advice = "give it the numbers as they are before the softmax; it applies one itself"
    called = _called_name(site)
    if name not in called and library_of(site.source.imports)[0] == "tensorflow":  # there the targets come first
        is_object = "logits" not in called
        name = "from_logits=True" if is_object else called
        what, wrapped = "its input", None
        advice += "; or from_logits=False" if is_object else ""
    offered: list[str] = _without_activation(made, _SOFTMAXES)
    if not offered and wrapped is not None and _called_name(site) == name:
        offered = _rewrite_loss_call(
            site, "nll_loss", (wrapped, f"{site.source.spelled('log')}({one_line(wrapped.text)})")
        )
    _report(
        f"{name} takes logits, and {what} is probabilities already: softmax is applied twice",
        site,
        made,
        "made here, and sums to 1",
        consequence="the loss stays far from zero however sure the model is, and its gradient is small",
        fixes=[*offered, advice],
        intent="gt.explain.configure(GT509='off')",
    )


def warn_sigmoid_twice(name: str, made: Record) -> None:
    """Warn of `binary_cross_entropy_with_logits` of a sigmoid."""
    site = UserExpression.present()
    what, _ = _first_argument(site)
    offered: list[str] = _without_activation(made, _SIGMOIDS)
    if _called_name(site) == name:
        offered += _rewrite_loss_call(site, "binary_cross_entropy")
    _report(
        f"{name} takes logits, and {what} is the result of a sigmoid: it is applied twice",
        site,
        made,
        "made here",
        consequence="sigmoid of what lies between 0 and 1 lies between 0.5 and 0.73: the loss stays far from zero",
        fixes=[*offered[:2], "give it the numbers as they are before the sigmoid"],
        intent="gt.explain.configure(GT509='off')",
    )


def warn_squashed(name: str, made: Record) -> None:
    """Warn of a cross entropy over classes whose logits are the results of a sigmoid."""
    site = UserExpression.present()
    what, _ = _first_argument(site)
    _report(
        f"{name} takes logits of any size, and {what} is the result of a sigmoid, between 0 and 1",
        site,
        made,
        "made here",
        consequence="the softmax of numbers between 0 and 1 is nearly even: the loss stays far from zero however sure "
        "the model is",
        fixes=[*_without_activation(made, _SIGMOIDS), "give it the numbers as they are before the sigmoid"],
        intent="gt.explain.configure(GT509='off')",
    )


def warn_sigmoid_of_softmax(name: str, made: Record) -> None:
    """Warn of a loss that applies a sigmoid to each class, of the result of a softmax over the classes."""
    site = UserExpression.present()
    what, _ = _first_argument(site)
    _report(
        f"{name} takes logits, and {what} is the result of a softmax: a sigmoid is applied to probabilities",
        site,
        made,
        "made here",
        consequence="sigmoid of what lies between 0 and 1 lies between 0.5 and 0.73: the loss stays far from zero",
        fixes=[*_without_activation(made, ("softmax",))[:2], "give it the numbers as they are before the softmax"],
        intent="gt.explain.configure(GT509='off')",
    )


def warn_labels_without_sign(name: str, target: Any) -> None:
    """Warn of labels 0 and 1 of a loss of pairs that takes 1 and -1."""
    site = UserExpression.present()
    part = _target_node(site, 2 if name == "cosine_embedding_loss" else 1)
    text = "the targets" if part is None else one_line(site.source.text(part))
    edits = [] if part is None else [source_edit(f"2 * {text} - 1", site.source.span(part))]
    if part is not None and not isinstance(part, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
        edits = []
    _report(
        f"{name} takes targets 1 and -1, and {text} has 0 and 1",
        site,
        None,
        "",
        consequence="the pairs with 0 do not count as unlike ones: nothing pushes them apart",
        fixes=[*edits, "labels -1.0 and 1.0: 2 * y - 1 for labels 0 and 1"],
        intent="gt.explain.configure(GT509='off')",
    )


def _target_node(site: UserExpression, position: int) -> ast.expr | None:
    """The argument with the targets of the call of a loss."""
    call = _call_node(site)
    if call is None:
        return None
    named = next((k.value for k in call.keywords if k.arg == "target"), None)
    if named is not None or len(call.args) <= position or any(isinstance(x, ast.Starred) for x in call.args):
        return named
    return call.args[position]


def warn_not_log_probabilities(name: str, input: Any, axis: int | None) -> None:
    """Warn of `nll_loss` or `kl_div` of logits, or of probabilities."""
    site = UserExpression.present()
    array = array_of(input)
    what, wrapped = _first_argument(site)
    sums = None if axis is None and array.ndim < 1 else array.sum(axis=-1 if axis is None else axis)
    probabilities = sums is not None and array.min() >= 0 and bool(np.allclose(sums, 1.0, atol=1e-5))
    made = _producer(record_of(input), "softmax") if probabilities else None
    offered: list[str] = []
    if probabilities and made is not None:
        offered = _rename_call(made, "softmax", "log_softmax")
    elif not probabilities and name == "nll_loss" and _called_name(site) == name:
        offered = _rewrite_loss_call(site, "cross_entropy")
    if not offered and wrapped is not None and _called_name(site) == name:
        function = site.source.spelled("log") if probabilities else site.source.spelled("log_softmax", "gradtape")
        along = "" if probabilities or axis in (None, array.ndim - 1) else f", axis={axis}"
        if not probabilities and library_of(site.source.imports)[0] == "torch":  # where the axis has to be given
            along = f", dim={-1 if axis is None else axis}"
        offered = _rewrite_loss_call(site, "", (wrapped, f"{function}({one_line(wrapped.text)}{along})"))
    given = "probabilities" if probabilities else f"numbers up to {array.max():.3g}"
    _report(
        f"{name} takes logarithms of probabilities, which are at most 0; {what} has {given}",
        site,
        made,
        "made here",
        consequence="the loss has no lower bound: it falls as long as these numbers grow, whatever the labels say"
        if not probabilities
        else "the loss and its gradient are not those of a likelihood",
        fixes=[*offered, "gt.log_softmax of the logits; or cross_entropy, which takes the logits themselves"],
        intent="gt.explain.configure(GT509='off')",
    )


def warn_labels_out_of_range(name: str, target: Any, low: float, high: float) -> None:
    """Warn of labels of a binary cross entropy that are no probabilities, such as -1 and 1, or pixels up to 255."""
    site = UserExpression.present()
    array = array_of(target)
    part = _target_node(site, 1)
    values = np.unique(array)[:3]
    change, changed = "", values
    if np.array_equal(values, [-1.0, 1.0]):
        change, changed = "({} + 1) / 2", (values + 1) / 2
    elif np.array_equal(values, [1.0, 2.0]):
        change, changed = "{} - 1", values - 1
    elif low >= 0 and 16 < high <= 255:
        change, changed = "{} / 255", np.asarray([low, high]) / 255
    fixes: list[str] = []
    if part is not None and change and np.all((changed >= 0) & (changed <= 1)):
        text = one_line(site.source.text(part))
        is_atom = isinstance(part, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        fixes = [Fix(change.format(text if is_atom else f"({text})"), True, site.source.span(part))]
    what = "the targets" if part is None else one_line(site.source.text(part))
    _report(
        f"{name} takes targets between 0 and 1, and {what} is between {low:.4g} and {high:.4g}",
        site,
        None,
        "",
        consequence="the loss has no lower bound: it falls below zero as long as the logits grow",
        fixes=[*fixes, "labels 0.0 and 1.0, or probabilities: (y + 1) / 2 for labels -1 and 1, x / 255 for pixels"],
        intent="gt.explain.configure(GT509='off')",
    )


def warn_not_logarithm(name: str, made: Record) -> None:
    """Warn of `poisson_nll_loss` of a rate where it takes the logarithm of the rate."""
    site = UserExpression.present()
    call = _call_node(site)
    fixes: list[str] = []
    if call is not None and _called_name(site) == name:
        span = site.source.span(call)
        if "\n" not in span.text and not any(k.arg == "log_input" for k in call.keywords):
            fixes = [source_edit(f"{span.text[:-1]}, log_input=False)", span)]
    _report(
        f"{name} takes the logarithm of the rate, and gets the result of {made.operation}, which is a rate",
        site,
        made,
        "made here, and positive",
        consequence="the exponential is taken twice: the rate that fits is the logarithm of the right one",
        fixes=[*fixes, "log_input=False for a rate; or leave the last activation out"],
        intent="log_input=True in the call",
    )


def warn_targets_not_probabilities(name: str, target: Any) -> None:
    """Warn of `cross_entropy` with targets that are scores, some of which are negative."""
    site = UserExpression.present()
    call = _call_node(site)
    part = call.args[1] if call is not None and len(call.args) > 1 else None
    fixes: list[str] = []
    if part is not None and not isinstance(part, ast.Starred):
        text = one_line(site.source.text(part))
        is_atom = isinstance(part, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        fixes = [source_edit(f"{text if is_atom else f'({text})'}.softmax(dim=1)", site.source.span(part))]
    made = record_of(target)
    _report(
        f"{name} takes class numbers or probabilities as targets, and some of these are negative",
        site,
        made if made is not None and made.location.is_known else None,
        "the targets are made here",
        consequence="the loss has no lower bound, and its gradient is not that of a likelihood",
        fixes=[*fixes, "the softmax of the teacher's scores as targets"],
        intent="gt.explain.configure(GT509='off')",
    )


def warn_swapped(name: str, input: Any, target: Any) -> None:
    """Warn of a loss of probabilities and logarithms of probabilities whose arguments are swapped."""
    site = UserExpression.present()
    call = _call_node(site)
    fixes: list[str] = []
    if call is not None and len(call.args) > 1 and not any(isinstance(part, ast.Starred) for part in call.args[:2]):
        first, second = (site.source.span(part) for part in call.args[:2])
        whole = site.source.span(call)
        text = replace_span(whole, second, first.text)
        if text is not None and "\n" not in whole.text:
            start = first.column or 0
            begin = start - (whole.column or 0)
            fixes = [source_edit(text[:begin] + second.text + text[begin + len(first.text) :], whole)]
    _report(
        f"the arguments of {name} are swapped: it takes the logarithms of the model's probabilities first, then the "
        "target's probabilities",
        site,
        _producer(record_of(target), "log_softmax"),
        "the logarithms are made here",
        consequence="the loss is that of other numbers, and may be NaN",
        fixes=[*fixes, f"{name}(log_probabilities, target)"],
        intent="gt.explain.configure(GT509='off')",
    )


def _report(title: str, site: UserExpression, made: Record | None, label: str, **parts: Any) -> None:
    spans = [site.span]
    if made is not None and made.location.is_known:
        there = site_at(made.location).span
        if (there.file, there.line, there.column) != (site.span.file, site.span.line, site.span.column):
            spans.append(there.labelled(label))
    found = problem("GT509", title, spans=spans, **parts)
    if is_due("GT509", *found.place[1:]):
        report(found)


def _producer(node: Record | None, name: str) -> Record | None:
    """The operation `name` that made a value, before changes of its shape; otherwise the operation that made it."""
    while node is not None and node.operation != name and node.kind == "linear" and len(node.parents) == 1:
        node = node.parents[0]
    return node if node is not None and node.operation else None


def _called_name(site: UserExpression) -> str:
    """The name of the function that is being called."""
    call = _call_node(site)
    if call is None:
        return ""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _call_node(site: UserExpression) -> ast.Call | None:
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    return node if isinstance(node, ast.Call) else None


def _first_argument(site: UserExpression) -> tuple[str, Span | None]:
    """The source of the input of the loss, and its span."""
    call = _call_node(site)
    part = None if call is None else next((k.value for k in call.keywords if k.arg == "input"), None)
    if call is not None and part is None and call.args and not isinstance(call.args[0], ast.Starred):
        part = call.args[0]
    if part is None:
        return "its input", None
    span = site.source.span(part)
    text = one_line(span.text)
    return (text if len(text) <= 40 else "its input"), span


def _without_activation(made: Record | None, names: tuple[str, ...]) -> list[str]:
    """The argument of a softmax or sigmoid in the place of the call."""
    if made is None or not made.location.is_known:
        return []
    site = site_at(made.location)
    call = _call_node(site)
    if call is None or _called_name(site) not in names:
        return []
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_method = isinstance(owner, ast.expr) and not (
        isinstance(owner, ast.Attribute)
        or (isinstance(owner, ast.Name) and (site.source.is_array_module(owner.id) or owner.id in site.source.imports))
    )
    inner = owner if is_method else call.args[0] if call.args else None
    if inner is None:
        return []
    text = one_line(site.source.text(inner))
    parent = site.source.parents.get(call)
    bare = isinstance(inner, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    if not bare and not isinstance(parent, ast.Assign | ast.Return | ast.Call | ast.keyword):
        text = f"({text})"
    return [source_edit(text, site.span)]


def _rename_call(made: Record, old: str, new: str) -> list[str]:
    site = site_at(made.location)
    call = _call_node(site)
    if call is None or _called_name(site) != old:
        return []
    whole, function = site.source.span(call), site.source.span(call.func)
    written = replace_span(whole, function, function.text[: -len(old)] + new)
    return [] if written is None else [source_edit(written, whole)]


def _rewrite_loss_call(site: UserExpression, function: str, argument: tuple[Span, str] | None = None) -> list[str]:
    """The call of the loss with another function, or another first argument."""
    call = _call_node(site)
    if call is None or (function and any(k.arg in _OF_LOGITS for k in call.keywords)):
        return []
    whole = site.source.span(call)
    text: str | None = whole.text
    if argument is not None:
        text = replace_span(whole, *argument)
    if text is not None and function:
        name = site.source.span(call.func)
        old = one_line(name.text)
        text = old[: len(old) - len(_called_name(site))] + function + one_line(text)[len(old) :]
    return [] if text is None else [source_edit(one_line(text), whole)]
