"""Errors that PyTorch raised and that no other explanation applies to: what its message means, at the user's line.

`message_table` has the meanings. What needs more than words is here: the function of a hook, the layer that works in
place, the tensor that was not finite, edits of the line. A message that is not in the table is shown with the shapes
and origins of the tensors in the statement, which is what one would print next.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import torch

from gradtape.core.location import is_library
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Operand, Problem, Span, source_edit
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import SourceFile, one_line, returned_span, source_of, span_of
from gradtape.watching.torch.custom import rule_span
from gradtape.watching.torch.message_table import ROWS, Row
from gradtape.watching.torch.recorder import TorchCut, TorchRecorder, is_plain

WORDS_AT_MOST = 160
OPERANDS_AT_MOST = 4
RAISED_BY_TORCH = (AssertionError, AttributeError, IndexError, RuntimeError, TypeError, ValueError)


def explain_message(
    error: BaseException, words: str, site: UserExpression, recorder: TorchRecorder, training: Any
) -> Problem | None:
    """The explanation of an error by its message; None if PyTorch did not raise it."""
    special = _special_problem(error, words, site, recorder, training)
    if special is not None:
        return special
    if not is_of_torch(error, site):
        return None
    for row in ROWS:
        match = row.pattern.search(words)
        if match is not None:
            return _row_problem(row, match, error, words, site, recorder)
    return _plain_problem(error, words, site)


def is_of_torch(error: BaseException, site: UserExpression) -> bool:
    """Whether PyTorch raised an error: in its own Python code, or in a function of C that the user's line calls."""
    if not isinstance(error, RAISED_BY_TORCH):
        return False
    inner: list[str] = []  # the modules that the error came through since it left the user's code, or began there
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        is_users = not is_library(trace.tb_frame.f_code.co_filename)
        inner = [] if is_users else [*inner, trace.tb_frame.f_globals.get("__name__", "")]
        trace = trace.tb_next
    if any(name.partition(".")[0] == "torch" or name.startswith("gradtape.watching") for name in inner):
        return True
    statement = None if site.node is None else site.source.statement(site.node)
    if statement is None or isinstance(statement, ast.Raise | ast.Assert):
        return False
    return isinstance(error, RuntimeError) and next(tensors_of(site, statement), None) is not None


def _first_sentence(words: str) -> str:
    text = " ".join(words.partition("\n")[0].split())
    return text if len(text) <= WORDS_AT_MOST else f"{text[: WORDS_AT_MOST - 3]}..."


def _row_problem(
    row: Row, match: re.Match[str], error: BaseException, words: str, site: UserExpression, recorder: TorchRecorder
) -> Problem:
    held = {key: value or "" for key, value in match.groupdict().items()}
    title = row.title.format(words=_first_sentence(words), **held)
    fixes = [fix.format(words=_first_sentence(words), **held) for fix in row.fixes]
    return problem(
        row.code,
        title,
        spans=[*_spans(row, error, site, recorder)],
        operands=_operands(site),
        consequence=row.consequence,
        fixes=[*_edits(row, match, site), *fixes],
    )


def _plain_problem(error: BaseException, words: str, site: UserExpression) -> Problem | None:
    """The message itself, with the tensors of the statement: their shapes, dtypes and where they are from."""
    operands = _operands(site)
    if not words:
        return None
    is_shape = re.search(r"\b(size|sizes|shape|shapes|dimension|dimensions|dims?)\b", words) is not None
    return problem(
        "GT110" if is_shape else "GT314",
        _first_sentence(words).rstrip("."),
        spans=[site.span],
        operands=operands,
        notes=[f"PyTorch refuses this call ({type(error).__name__})"],
        fixes="compare the shapes and dtypes above with what the function takes",
    )


# -- what a statement works on


def tensors_of(site: UserExpression, statement: ast.AST) -> Iterator[tuple[ast.expr, Any]]:
    """The names and attributes of a statement that are tensors, the innermost of each expression."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            value = site.value(node)
            if isinstance(value, torch.Tensor):
                yield node, value


def _operands(site: UserExpression) -> list[Operand]:
    statement = None if site.node is None else site.source.statement(site.node)
    if statement is None:
        return []
    first = statement if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Return) else site.node
    found: dict[str, Operand] = {}
    for part, value in tensors_of(site, first or statement):
        operand = site._operand(value, part, 0, 1)
        found.setdefault(operand.name, operand)
    return list(found.values())[:OPERANDS_AT_MOST]


# -- more lines


def _spans(row: Row, error: BaseException, site: UserExpression, recorder: TorchRecorder) -> Iterator[Span]:
    """The line that raised, and others that have to do with it."""
    yield site.span
    statement = None if site.node is None else site.source.statement(site.node)
    if row.code == "GT208":
        yield from _inference_spans(error, recorder)
    if row.code in ("GT307", "GT405") and statement is not None:
        for _, value in tensors_of(site, statement):
            record = recorder.record_of(value)
            if record is not None and record.operation and record.location.is_known:
                yield span_of(record.location).labelled("computed here")
                break
        else:
            yield from _returned(site)


def _returned(site: UserExpression) -> Iterator[Span]:
    """What the user's function returns that a transformation such as `grad` was called with."""
    for node in ast.walk(site.node) if site.node is not None else ():
        function = site.value(node) if isinstance(node, ast.Name) else None
        code = getattr(function, "__code__", None)
        if code is not None and not is_library(code.co_filename):
            yield returned_span(code, "is returned")
            return


def _inference_spans(error: BaseException, recorder: TorchRecorder) -> Iterator[Span]:
    """Where tensors of inference_mode that are in reach were computed, and where the mode was switched on."""
    from gradtape.watching.torch.missing import switch_span

    trace, seen = error.__traceback__, set()
    while trace is not None:
        for value in list(trace.tb_frame.f_locals.values()):
            if not is_plain(value) or id(value) in seen or not value.is_inference():
                continue
            seen.add(id(value))
            record = recorder.record_of(value)
            if isinstance(record, TorchCut) and record.location.is_known:
                place = switch_span(record)
                if place is not None:
                    yield place.labelled("inference_mode is switched on here")
                yield span_of(record.location).labelled("computed here")
                return
        trace = trace.tb_next


# -- edits of the line


def _edits(row: Row, match: re.Match[str], site: UserExpression) -> list[Fix]:
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return []
    words = match.group(0)
    if "out=..." in words:
        return _without_out(site, call)
    if "decreasing order" in words:
        span = site.source.span(call)
        if any(k.arg == "enforce_sorted" for k in call.keywords) or "\n" in span.text:
            return []
        return [source_edit(f"{one_line(span.text).rstrip()[:-1]}, enforce_sorted=False)", span)]
    if "cannot be concatenated" in words:
        return _renamed(site, call, ("cat", "concat", "concatenate"), "stack")
    if row.code == "GT405" and "definite" in words:
        return _with_jitter(site, call)
    return []


def _without_out(site: UserExpression, call: ast.Call) -> list[Fix]:
    """`y = torch.add(a, b)` for `torch.add(a, b, out=y)`."""
    given = next((k for k in call.keywords if k.arg == "out"), None)
    statement = site.source.statement(call)
    if given is None or not isinstance(given.value, ast.Name) or not isinstance(statement, ast.Expr):
        return []
    kept = ast.Call(call.func, call.args, [k for k in call.keywords if k is not given])
    text = ast.unparse(ast.fix_missing_locations(kept))
    return [source_edit(f"{given.value.id} = {text}", site.source.span(statement))]


def _renamed(site: UserExpression, call: ast.Call, old: tuple[str, ...], new: str) -> list[Fix]:
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in old:
        return []
    span = site.source.span(function)
    return [source_edit(one_line(span.text)[: -len(function.attr)] + new, span)]


def _with_jitter(site: UserExpression, call: ast.Call) -> list[Fix]:
    """The argument with a small number on its diagonal, if it has a Cholesky factor then."""
    part = call.args[0] if call.args else None
    matrix = None if part is None else site.value(part)
    if not isinstance(matrix, torch.Tensor) or matrix.dim() < 2 or matrix.shape[-1] != matrix.shape[-2] or part is None:
        return []
    size = int(matrix.shape[-1])
    with torch.no_grad():
        plain = matrix.detach()
        scale = float(plain.diagonal(dim1=-2, dim2=-1).abs().mean())
        for power in (-6, -5, -4, -3):
            jitter = 10.0**power
            moved = plain + jitter * torch.eye(size, dtype=plain.dtype, device=plain.device)
            factor, info = torch.linalg.cholesky_ex(moved)
            if scale > 0 and not bool(info.any()) and float(factor.diagonal(dim1=-2, dim2=-1).min()) > 0:
                text = one_line(site.source.text(part))
                atom = isinstance(part, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
                prefix = next((name for name, module in site.source.imports.items() if module == "torch"), "torch")
                kind = "" if plain.dtype == torch.float32 else f", dtype={plain.dtype}"
                diagonal = f"{jitter:.0e}".replace("e-0", "e-")
                written = f"{text if atom else f'({text})'} + {diagonal} * {prefix}.eye({size}{kind})"
                return [Fix(written, True, site.source.span(part))]
    return []


# -- explanations that need more than the words


def _special_problem(
    error: BaseException, words: str, site: UserExpression, recorder: TorchRecorder, training: Any
) -> Problem | None:
    hook = re.search(r"hook '([^']+)' has changed the (size|type) of value", words)
    if hook is not None:
        return _hook_problem(hook[1], hook[2], site)
    rule = re.search(r"(\w+)\.backward\(\) (takes|missing) ", words)
    if rule is not None and isinstance(error, TypeError) and rule[1] in training.customs.places:
        return _rule_arguments_problem(rule[1], words, training)
    kind = re.search(r"expected Variable or None \(got (.+?)\)", words)
    if kind is not None and training.customs.places:
        return _rule_kind_problem(kind[1], training)
    if isinstance(error, ValueError) and "values to unpack" in words and _names_saved(site):
        return _unsaved_problem(site, training)
    forward = re.search(r'Module \[(\w+)\] is missing the required "forward" function', words)
    if forward is not None:
        return _no_forward_problem(error, forward[1], site)
    if "support the deepcopy protocol" in words:
        return _deepcopy_problem(error, site)
    invalid = re.search(
        r"Expected parameter (\w+) .*?of distribution (\w+).* to satisfy the constraint (.*?), but found", words, re.S
    )
    if invalid is not None:
        return _distribution_problem(error, invalid[1], invalid[2], invalid[3], site, recorder)
    if isinstance(error, TypeError) and (given := re.search(r"'(\w+)' object is not iterable", words)) is not None:
        return _module_for_parameters_problem(given[1], error, site)
    return None


def _definition(source: SourceFile, name: str) -> ast.FunctionDef | None:
    return next(
        (
            node
            for node in ([] if source.tree is None else ast.walk(source.tree))
            if isinstance(node, ast.FunctionDef) and node.name == name
        ),
        None,
    )


def _first_line(source: SourceFile, node: ast.FunctionDef) -> Span:
    """The line of a definition."""
    return Span(source.file, node.lineno, source=source.lines[node.lineno - 1])


def _hook_problem(name: str, what: str, site: UserExpression) -> Problem:
    """A hook returned a gradient of another shape or dtype than it was given."""
    spans = [site.span.labelled("runs the hook")]
    definition = _definition(site.source, name)
    if definition is not None:
        returned = [node for node in ast.walk(definition) if isinstance(node, ast.Return) and node.value is not None]
        if returned:
            spans.insert(0, site.source.span(returned[-1]).labelled("returns another shape" if what == "size" else ""))
    for node in [] if site.source.tree is None else ast.walk(site.source.tree):
        is_registered = isinstance(node, ast.Call) and "hook" in one_line(site.source.text(node.func))
        if is_registered and isinstance(node, ast.Call) and (name == "<lambda>" or name in site.source.text(node)):
            spans.append(site.source.span(node).labelled("registered here"))
            break
    if name == "<lambda>":
        spans = [*spans[1:], spans[0]]
    return problem(
        "GT302" if what == "size" else "GT303",
        f"the hook {name} returns a gradient of another {'shape' if what == 'size' else 'dtype'} than it was given",
        spans=spans,
        consequence="what a hook returns takes the place of the gradient, which has the shape of its tensor",
        fixes="return a tensor of the shape of the gradient: g / g.norm(), g.clamp(-1, 1); or None to leave it",
    )


def _rule_arguments_problem(name: str, words: str, training: Any) -> Problem:
    """The `backward` of a rule takes another number of gradients than `forward` returned tensors."""
    cls, location = training.customs.places[name]
    code = getattr(cls.backward, "__code__", None)
    spans = [span_of(location).labelled("called here")]
    if code is not None:
        source = source_of(code.co_filename)
        definition = next(
            (
                node
                for node in ([] if source.tree is None else ast.walk(source.tree))
                if isinstance(node, ast.FunctionDef)
                and node.name == code.co_name
                and code.co_firstlineno in (node.lineno, *(part.lineno for part in node.decorator_list))
            ),
            None,
        )
        if definition is not None:
            spans.insert(0, _first_line(source, definition))
    return problem(
        "GT304",
        f"{name}.backward takes another number of gradients than forward returns tensors: {_first_sentence(words)}",
        spans=spans,
        consequence="backward is called with ctx and one gradient for each tensor that forward returned",
        fixes="def backward(ctx, grad_first, grad_second): a parameter for each tensor that forward returns",
    )


def _rule_kind_problem(kind: str, training: Any) -> Problem:
    """The `backward` of a rule returns something that is no tensor."""
    cls, location = list(training.customs.places.values())[-1]
    return problem(
        "GT311",
        f"{cls.__name__}.backward returns {kind}, and gradients are tensors",
        spans=[rule_span(cls), span_of(location).labelled("called here")],
        fixes="return a tensor, or None for an argument without a gradient; torch.from_numpy(g) of an array",
    )


def _names_saved(site: UserExpression) -> bool:
    statement = None if site.node is None else site.source.statement(site.node)
    nodes = [] if statement is None else ast.walk(statement)
    return any(isinstance(node, ast.Attribute) and node.attr == "saved_tensors" for node in nodes)


def _unsaved_problem(site: UserExpression, training: Any) -> Problem:
    """The `backward` of a rule unpacks another number of tensors than its `forward` has saved."""
    spans = [site.span]
    for cls, _ in list(training.customs.places.values())[-1:]:
        code = getattr(cls.forward, "__code__", None)
        spans += [] if code is None else [returned_span(code, "forward has saved another number")]
    return problem(
        "GT314",
        "backward unpacks another number of tensors than forward has saved",
        spans=spans,
        fixes="ctx.save_for_backward(x, y) once in forward, with all that backward needs, in the same order",
    )


def _no_forward_problem(error: BaseException, name: str, site: UserExpression) -> Problem:
    """A module has no `forward`: it is misspelled, or indented into another method."""
    spans, fixes = [site.span.labelled("called here")], []
    for node in [] if site.source.tree is None else ast.walk(site.source.tree):
        if not isinstance(node, ast.ClassDef) or node.name != name:
            continue
        methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
        close = difflib.get_close_matches("forward", [each for each in methods if each != "__init__"], cutoff=0.7)
        inner = [part for part in ast.walk(node) if isinstance(part, ast.FunctionDef) and part.name == "forward"]
        if close:
            wrong = methods[close[0]]
            span = _first_line(site.source, wrong)
            line = site.source.lines[wrong.lineno - 1]
            column = line.index(close[0])
            place = Span(span.file, wrong.lineno, column, column + len(close[0]), source=line)
            spans.insert(0, span.labelled("is not called forward"))
            fixes = [source_edit("forward", place)]
        elif inner:
            spans.insert(0, _first_line(site.source, inner[0]).labelled("is inside of another function"))
        else:
            spans.append(site.source.span(node).labelled("has no forward"))
    return problem(
        "GT314",
        f"{name} is called, and has no method forward",
        spans=spans,
        fixes=[*fixes, "def forward(self, x): in the class, at the level of __init__"],
    )


def _computed_attributes(error: BaseException) -> Iterator[tuple[Any, str]]:
    """The modules, with the names of their attributes, that keep computed tensors, in the frames of an error."""
    trace = error.__traceback__
    while trace is not None:
        modules = [held for held in list(trace.tb_frame.f_locals.values()) if isinstance(held, torch.nn.Module)]
        for part in (part for held in modules for part in torch.nn.Module.modules(held)):
            for name, value in list(vars(part).items()):
                if is_plain(value) and value.grad_fn is not None:
                    yield part, name
        trace = trace.tb_next


def _deepcopy_problem(error: BaseException, site: UserExpression) -> Problem:
    """A module that is copied keeps a computed tensor as an attribute."""
    spans, what = [site.span.labelled("copied here")], "a computed tensor"
    part, name = next(_computed_attributes(error), (None, ""))
    if part is not None:
        what = f"{type(part).__name__}.{name}, a computed tensor,"
        made = _attribute_assignment(site.source, name)
        spans += [] if made is None else [made.labelled("kept here")]
    return problem(
        "GT314",
        f"deepcopy of {what} with its history: only leaves can be copied",
        spans=spans,
        consequence="a copy would share the graph of the original",
        fixes="keep it without its history: self.x = x.detach(); or copy before the forward pass; "
        "model.state_dict() has the parameters only",
    )


def _attribute_assignment(source: SourceFile, name: str) -> Span | None:
    found = [
        node
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr == name for target in node.targets)
    ]
    return source.span(found[-1]) if found else None


def _distribution_problem(
    error: BaseException,
    parameter: str,
    distribution: str,
    constraint: str,
    site: UserExpression,
    recorder: TorchRecorder,
) -> Problem | None:
    """A distribution refuses its parameter: because it is NaN, which some operation has produced, or out of range."""
    from gradtape.watching.torch.gradients import nonfinite_problem

    value = None
    trace = error.__traceback__
    while trace is not None:
        held = trace.tb_frame.f_locals
        if trace.tb_frame.f_code.co_name == "__init__" and isinstance(held.get("value"), torch.Tensor):
            value = held["value"]
        trace = trace.tb_next
    if not isinstance(value, torch.Tensor):
        return None
    if not bool(torch.isfinite(value).all()):
        origin = nonfinite_problem(value, recorder)
        if origin is not None:
            return origin.with_(
                spans=[*origin.spans, site.span.labelled(f"{distribution} refuses {parameter}, which is not finite")]
            )
    bare = value.detach()
    return problem(
        "GT509" if bool(torch.isfinite(value).all()) else "GT401",
        f"{parameter} of {distribution} has to satisfy {constraint}, and is between {float(bare.min()):.3g} and "
        f"{float(bare.max()):.3g}",
        spans=[site.span],
        fixes="softplus(x) + 1e-6 or exp(x) for what is positive, sigmoid for what is between 0 and 1, softmax or "
        "logits= for probabilities of classes",
    )


def _module_for_parameters_problem(name: str, error: BaseException, site: UserExpression) -> Problem | None:
    """A module is given to an optimiser in the place of its parameters."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_globals.get("__name__", "").startswith("torch.optim"):
        return None
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    part = call.args[0] if isinstance(call, ast.Call) and call.args else None
    if part is None or not isinstance(site.value(part), torch.nn.Module):
        return None
    text = one_line(site.source.text(part))
    return problem(
        "GT314",
        f"the optimiser is given {text}, a module ({name}), and takes its parameters",
        spans=[site.span],
        fixes=[source_edit(f"{text}.parameters()", site.source.span(part)), "model.parameters()"],
    )


__all__ = ["explain_message", "is_of_torch", "tensors_of"]
