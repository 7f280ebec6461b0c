"""Errors of PyTorch's engine, explained from the traceback: a second backward pass, rules, writes in place, modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import torch

from gradtape.core.location import is_library
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span, source_edit
from gradtape.explain.model.record import Shape, SourceLocation
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line, span_of
from gradtape.explain.source.libraries import record_of
from gradtape.watching.record import OperationRecord, WatchedRecord
from gradtape.watching.torch.custom import rule_span
from gradtape.watching.torch.known_messages import explain_message, tensors_of
from gradtape.watching.torch.layer_errors import layer_operands, length_edit, made_by
from gradtape.watching.torch.missing import why_not_kept
from gradtape.watching.torch.program_errors import explain_program_error, local_of_library
from gradtape.watching.torch.recorder import KeptTensor, TorchRecorder, Write, is_plain, storage_key
from gradtape.watching.torch.untracked import why_untracked

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
        if reason is not None:
            return reason
    own = explain_program_error(error, words, site, recorder)
    if own is not None:
        return own
    if "can't optimize a non-leaf Tensor" in words:
        held = local_of_library(error, "param")
        found = why_not_kept(held, recorder) if is_plain(held) else None
        return None if found is None else found.with_(
            title=found.title.replace("no gradient: ", "an optimiser takes leaves: ")
        )  # fmt: skip
    if "does not require grad and does not have a grad_fn" in words:
        part, _ = site.asked()
        target = None if part is None else site.value(part)
        if not is_plain(target):
            return None
        return why_untracked(target, recorder, training.calls, site.location, training.registry)
    return explain_message(error, words, site, recorder, training)


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
    made, call, where = made_by(next(torch.nn.Module.parameters(module)), training)
    x = next((held for name in ("input", "query", "x", "src") if isinstance(held := local_of_library(error, name),
             torch.Tensor)), None)  # fmt: skip
    sizes = next((match for pattern in _SIZES if (match := pattern.search(words)) is not None), None)
    fixes: list[str] = []
    title = f"{type(module).__name__}: {words.partition(chr(10))[0]}"
    if sizes is not None and x is not None:
        wanted, given = int(sizes["wanted"]), int(sizes["given"])
        title = (
            f"the {type(module).__name__} takes {wanted} features, and its input of shape {tuple(x.shape)} has {given}"
        )
        fixes = [*length_edit(call, where, ("input_size", "embed_dim"), given)]
        fixes.append(f"{given} features for the layer, or an input whose last axis has {wanted}")
    spans = [site.span.labelled(f"gets {tuple(x.shape)}" if x is not None else "")]
    if made is not None:
        spans.append(made.labelled("made here"))
    return problem(
        "GT116",
        title,
        spans=spans,
        operands=[] if x is None else layer_operands(site, x),
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


def tensors_at(error: BaseException) -> list[Any]:
    """The tensors that the user's statement names which an error passed through last."""
    site = _raising_site(error)
    statement = None if site is None or site.node is None else site.source.statement(site.node)
    if site is None or statement is None:
        return []
    return [value for _, value in tensors_of(site, statement)]


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
    for record in reading:
        spans += _attributes_kept(site_at(record.location)) if record.location.is_known else []
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


def _attributes_kept(site: UserExpression) -> list[Span]:
    """Where the attributes are assigned, after the object was made, that a statement reads: `self.state = state`."""
    statement = None if site.node is None else site.source.statement(site.node)
    tree = site.source.tree
    if statement is None or tree is None:
        return []
    loads = [node for node in ast.walk(statement) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
    read = {site.source.text(node) for node in loads}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        parts = [part for target in node.targets for part in getattr(target, "elts", [target])]
        if not any(isinstance(part, ast.Attribute) and site.source.text(part) in read for part in parts):
            continue
        scope = next((each for each in site.source.scopes(node) if isinstance(each, ast.FunctionDef)), None)
        if scope is not None and scope.name != "__init__" and not isinstance(node.value, ast.Constant):
            found.append(site.source.span(node).labelled("keeps it for the next batch"))
    return found


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
            fixes = [source_edit(f"{returned.text}{', None' * missing}", returned)]
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
        fixes = out_of_place(write.location)
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


def out_of_place(location: SourceLocation) -> list[str]:
    """`x = x + y` instead of `x += y`, and `x = x.add(y)` instead of `x.add_(y)`."""
    site = site_at(location)
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
        return [source_edit(f"{name} = {name} {symbol} {value}", site.source.span(statement))]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
        owner = call.func.value
        if isinstance(owner, ast.Name) and statement is not None:
            whole, function = site.source.span(call), site.source.span(call.func)
            text = replace_span(whole, function, one_line(function.text)[:-1])
            if text is not None:
                return [source_edit(f"{owner.id} = {text}", site.source.span(statement))]
    return []


__all__ = ["explain_error", "out_of_place", "tensors_at"]
