"""Why a tape of TensorFlow gives None: the causes that all tapes share, in TensorFlow's words, and those of its own."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from gradtape.core.location import Location
from gradtape.explain.detectors import missing_gradient
from gradtape.explain.detectors.missing_gradient import verdict
from gradtape.explain.graph import paths
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Span, source_edit
from gradtape.explain.model.record import Record
from gradtape.explain.model.why import Why
from gradtape.explain.source.expression import UserExpression, replace_span
from gradtape.explain.source.files import SourceFile, one_line, source_of, span_of
from gradtape.watching.record import CONSTANT, LeafRecord, OperationRecord, WatchedRecord
from gradtape.watching.tensorflow.converted_values import (
    explain_detour,
    explain_numpy_function,
    joined_spans,
    with_departure_edit,
)
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder, VariableRecord
from gradtape.watching.tensorflow.request_errors import tape_call
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.values import array_in, is_floating, numpy_dtype


def why(target: Any, source: Any, watch: TapeWatch, recorder: TensorFlowRecorder) -> Why:
    """Why `tape.gradient(target, source)` is None, or that there is a gradient."""
    goal = recorder.record_of(source)
    start = recorder.record_of(target)
    if goal is None:
        return verdict(
            "GT203", f"the source is a {type(source).__name__}, which no tape can watch", fix="tf.Variable(x)"
        )
    if not is_floating(source.dtype):
        return _explain_integer_source(source, goal)
    if start is None:
        return with_departure_edit(missing_gradient.explain_untracked_target(target, source, watch))
    tapes = watch.tapes
    route = paths.route_back(start, goal, tapes)
    if route and all(record.is_on(tapes) for record in route) and not paths.blocked(route):
        head = f"the gradient flows: {len(route) - 1} operations from the target back to the source"
        return Why(problem("", head, spans=()))
    fresh = _explain_fresh_source(goal, start)
    if fresh is not None:
        return fresh
    if watch.cleared is not None and _was_computed_before(start, goal, watch):
        return _explain_cleared(watch.cleared)
    rebound = find_rebinding(goal)
    if not goal.is_on(tapes) and rebound is not None:
        return _explain_rebinding(goal, *rebound, watch)
    if not goal.is_on(tapes) and not (isinstance(goal, VariableRecord) and goal.is_variable):
        return _explain_unwatched(target, source, goal, start, watch)
    if isinstance(goal, VariableRecord) and not watch.watches_variables and not goal.is_on(tapes):
        return _explain_unaccessed(goal, route, watch)
    if route:
        return _with_caller(missing_gradient.explain_cut_path(route, watch), route, watch)
    outside = None if watch.was_recording(start) else missing_gradient.explain_gradient_taken_outside()
    if outside is not None and (start.is_shared or start.order > goal.order):
        moved = _inside_block(outside.problem.spans[0], watch)
        return Why(outside.problem.with_(fixes=[*moved, *outside.problem.fixes]))
    if isinstance(goal, LeafRecord) and not isinstance(goal, VariableRecord) and goal.location.is_known:
        return _explain_late_watch(source, goal, start, watch)
    if isinstance(goal, VariableRecord) and watch.watches_variables and not watch.has_read(goal):
        assigned = _assigned_before(start)
        if assigned is not None:
            return missing_gradient.explain_departure(assigned)
    written = _written_on_the_way(start, goal)
    if written is not None:
        return missing_gradient.explain_departure(written)
    choice = _choice_on_the_way(start, goal)
    if choice is not None:
        found = missing_gradient.explain_cut_path([choice, goal], watch).problem
        return Why(found.with_(details={**found.details, "is_choice": True}))
    numpy = explain_detour(recorder, watch) or explain_numpy_function(source)
    if numpy is not None:
        return with_departure_edit(numpy)
    return with_departure_edit(missing_gradient.explain_unconnected(target, source, paths.all_behind(start), watch))


def _with_caller(reason: Why, route: Sequence[Record], watch: TapeWatch) -> Why:
    """The same, with the statement outside of the with block behind which something was computed without the tape.

    What was computed there may be in a function that the statement has called.
    """
    outside = [record for record in route[:-1] if not record.is_on(watch.tapes)]
    if reason.problem.code != "GT211" or not outside or not isinstance(outside[-1], OperationRecord):
        return reason
    used = outside[-1]
    places = [used.location, *getattr(used, "callers", ())]
    place = next((each for each in places if each.code is watch.entered.code), None)
    if place is None:
        return reason
    found = reason.problem
    spans = [*found.spans]
    if place is not used.location:
        spans.insert(0, span_of(place).labelled("outside of the with block"))
    return Why(found.with_(spans=spans, fixes=[*_inside_block(place, watch), *found.fixes]))


def _inside_block(place: Location | Span, watch: TapeWatch) -> list[Fix]:
    """The statements after the with block of a tape up to `place`, or the one before it, moved into the block.

    A gradient is moved only if `place` is one: it is that of another tape.
    """
    source = source_of(place.file)
    node: Any = source.find(watch.entered)
    while node is not None and not isinstance(node, ast.With):
        node = source.parents.get(node)
    found = source.at(place) if isinstance(place, Span) else source.find(place)
    statement = None if found is None else source.statement(found)
    block = None if node is None else source.parents.get(node)
    siblings = next((b for b in (getattr(block, name, None) for name in ("body", "orelse")) if node in (b or ())), None)
    if node is None or statement is None or siblings is None or statement not in siblings:
        return []
    here, there = siblings.index(node), siblings.index(statement)
    inner = " " * (source.span(node.body[0]).column or 0)
    if any(part.lineno == other.lineno for part, other in pairwise([*siblings, *node.body])):
        return []
    if there > here:
        moved = siblings[here + 1 : there + 1]
        text = f"\n{inner}".join(source.text(part) for part in moved)
        takes_gradient = ".gradient(" in (text if isinstance(place, Location) else "".join(text.splitlines()[:-1]))
        if any("\n" in source.text(part) for part in moved) or takes_gradient:
            return []
        # from the start of its line on: the indent of the first is part of what is replaced
        return [source_edit(f"{inner}{text}", _region(source, moved[0].lineno, 0, moved[-1]))]
    if there == here - 1 and "\n" not in source.text(statement):
        head = source.lines[node.lineno - 1 : node.body[0].lineno - 1]
        first, *rest = [line.rstrip("\n") for line in head]
        indent = source.span(statement).column or 0
        text = "\n".join([first[indent:], *rest, f"{inner}{source.text(statement)}"])
        return [source_edit(text, _region(source, statement.lineno, indent, node.body[0].lineno - 1))]
    return []


def _region(source: SourceFile, line: int, column: int, end: ast.stmt | int) -> Span:
    """The source from a place to the end of a statement or a line."""
    last = end if isinstance(end, int) else source.span(end).end_line or end.lineno
    lines = [text.rstrip("\n") for text in source.lines[line - 1 : last]]
    stop = len(lines[-1]) if isinstance(end, int) else source.span(end).end_column
    return Span(source.file, line, column, stop, source="\n".join(lines), end_line=last)


def _explain_unaccessed(goal: VariableRecord, route: Sequence[Record], watch: TapeWatch) -> Why:
    """The tape was made not to watch variables by itself, and was not told to watch this one."""
    site = UserExpression.present()
    part = site.asked()[1]
    name = one_line(site.source.text(part)) if isinstance(part, ast.Name | ast.Attribute) else goal.name.split(":")[0]
    call = tape_call(watch.entered)
    source = source_of(watch.entered.file)
    lines: list[Any] = ["this tape" if call is None else "made here"]
    lines.append(span_of(watch.entered) if call is None else source.span(call))
    used = next((record for record in reversed(route[:-1]) if record.operation), None)
    if used is not None:
        lines += ["used here", used]
    offered: list[str] = []
    keyword = None if call is None else next((k for k in call.keywords if k.arg == "watch_accessed_variables"), None)
    if call is not None and keyword is not None:
        kept = [one_line(source.text(argument)) for argument in call.args]
        kept += [f"{k.arg}={one_line(source.text(k.value))}" for k in call.keywords if k is not keyword]
        offered = [source_edit(f"{one_line(source.text(call.func))}({', '.join(kept)})", source.span(call))]
    return verdict(
        "GT212",
        f"this tape was made with watch_accessed_variables=False, and was not told to watch {name}",
        *lines,
        fix=[*offered, "tape.watch(v) inside the with block, for each variable"],
    )


def _explain_integer_source(source: Any, goal: WatchedRecord) -> Why:
    made = _made_at(source, goal)
    fixes: list[str] = []
    if made is not None:
        text = _with_points(made)
        fixes = [] if text is None else [text]
    return verdict(
        "GT207",
        f"the source has dtype {numpy_dtype(source.dtype)}; only floating point numbers have gradients",
        *(() if made is None else ("made here", made)),
        fix=[*fixes, "write the numbers with a point (1.0), or dtype=tf.float32"],
    )


def _made_at(source: Any, goal: WatchedRecord) -> Span | None:
    """Where a source was made: by its record, or by its name in the request."""
    is_watched = isinstance(goal, LeafRecord) and not isinstance(goal, VariableRecord)  # placed where it is watched
    if goal is not CONSTANT and goal.location.is_known and not is_watched:
        return span_of(goal.location)
    site = UserExpression.present()
    part = site.asked()[1]
    bound = None if part is None else site.binding(part)
    if bound is None and is_watched and goal.location.is_known:
        return span_of(goal.location)
    return bound


def _with_points(made: Span) -> Fix | None:
    """`tf.Variable([3.0, 4.0])` for `tf.Variable([3, 4])`."""
    source = source_of(made.file)
    node = source.at(made)
    whole = source.span(node) if isinstance(node, ast.Call) else None
    if whole is None or not isinstance(node, ast.Call) or not node.args or "\n" in whole.source:
        return None
    is_range = getattr(node.func, "attr", "") == "range"
    numbers = [
        part
        for argument in (node.args if is_range else node.args[:1])
        for part in ast.walk(argument)
        if isinstance(part, ast.Constant) and isinstance(part.value, int) and not isinstance(part.value, bool)
    ]
    if not numbers or any(keyword.arg == "dtype" for keyword in node.keywords):
        return None
    text, base = whole.text, whole.column or 0
    for part in sorted(numbers, key=lambda number: -number.col_offset):
        end = (source.span(part).end_column or 0) - base
        text = f"{text[:end]}.0{text[end:]}"
    return source_edit(text, whole)


# -- a name that was bound to a new tensor


def find_rebinding(goal: Record) -> tuple[str, SourceFile, ast.stmt] | None:
    """The statement that bound the name of a computed source anew (`w = w - lr * g`), and that name."""
    if not isinstance(goal, OperationRecord) or not goal.is_tracked or not goal.location.is_known:
        return None
    name = missing_gradient._rebound_name(goal)
    source = source_of(goal.location.file)
    node = source.find(goal.location)
    statement = None if node is None else source.statement(node)
    return (name, source, statement) if name and statement is not None else None


def _explain_rebinding(goal: Record, name: str, source: SourceFile, statement: ast.stmt, watch: TapeWatch) -> Why:
    origin = next((r for r in paths.all_behind(goal) if isinstance(r, VariableRecord)), None)
    kind = "a Variable" if origin is not None else "the tensor that was watched"
    text = _assignment(name, source, statement)
    offered: list[str] = [] if text is None else [source_edit(text, source.span(statement))]
    return verdict(
        "GT205",
        f"{name} is no Variable any more: the name was bound to a new tensor, which this tape does not watch",
        "bound here",
        goal,
        f"before, {name} was {kind}; an operation on it gives a plain tensor",
        fix=[*offered, f"a Variable keeps its place: {name}.assign(...) instead of {name} = ..."],
    )


def _assignment(name: str, source: SourceFile, statement: ast.stmt) -> str | None:
    """`w.assign_sub(step)` for `w = w - step` or `w -= step`; `w.assign(value)` for any other value.

    A list of new tensors, `w = [p - step for p in w]`, becomes a loop with an assignment to each.
    """
    kinds = {ast.Add: "assign_add", ast.Sub: "assign_sub"}
    listed = statement.value if isinstance(statement, ast.Assign) else None
    if isinstance(listed, ast.ListComp) and len(listed.generators) == 1:
        each, loop = listed.elt, listed.generators[0]
        if not isinstance(each, ast.BinOp) or type(each.op) not in kinds or loop.ifs or "\n" in source.text(listed):
            return None
        indent = " " * ((source.span(statement).column or 0) + 4)
        return (
            f"for {source.text(loop.target)} in {source.text(loop.iter)}:\n{indent}"
            f"{source.text(each.left)}.{kinds[type(each.op)]}({source.text(each.right)})"
        )
    if isinstance(listed, ast.List | ast.Tuple | ast.Dict | ast.DictComp):
        return None
    if isinstance(statement, ast.AugAssign) and type(statement.op) in kinds:
        return f"{name}.{kinds[type(statement.op)]}({one_line(source.text(statement.value))})"
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        value = statement.value
        if isinstance(value, ast.BinOp) and type(value.op) in kinds and source.text(value.left) == name:
            return f"{name}.{kinds[type(value.op)]}({one_line(source.text(value.right))})"
        return f"{name}.assign({one_line(source.text(value))})"
    return None


def joint_fixes(sources: Sequence[Any], recorder: TensorFlowRecorder) -> list[Fix]:
    """One edit for all names that were bound anew in neighbouring statements; empty if there is one or none."""
    found = [r for x in sources if (goal := recorder.record_of(x)) is not None and (r := find_rebinding(goal))]
    if len(found) < 2:
        return []
    source = found[0][1]
    statements = sorted({r[2].lineno: r for r in found}.values(), key=lambda r: r[2].lineno)
    spans = [source.span(statement) for _, _, statement in statements]
    texts = [_assignment(name, source, statement) for name, _, statement in statements]
    follow = all((one.end_line or one.line) + 1 == other.line for one, other in pairwise(spans))
    if not follow or any(text is None for text in texts) or any(span.line != span.end_line for span in spans):
        return []
    indent = " " * (spans[0].column or 0)
    return [source_edit(f"\n{indent}".join(text for text in texts if text), joined_spans(spans))]


# -- sources that the tape does not watch


def _explain_late_watch(source: Any, goal: LeafRecord, start: WatchedRecord, watch: TapeWatch) -> Why:
    """The tape was told to watch a tensor after the target was computed from it."""
    site = UserExpression.present()
    part = site.asked()[1]
    name = one_line(site.source.text(part)) if isinstance(part, ast.Name | ast.Attribute) else "the source"
    target = site.asked()[0]
    use = None if target is None else site.use(target, lambda value: value is source)
    lines: list[Any] = ["watched here", goal]
    early = _use_before_block(part, watch)
    if early is not None:
        return verdict(
            "GT204",
            f"{name} was used before the tape was opened and told to watch it",
            "used here",
            early,
            *lines,
            fix=f"compute this inside the with block, after tape.watch({name})",
        )
    used = paths.use_of(array_in(source), paths.all_behind(start))
    if used is not None:
        lines += ["used here", used]
    elif use is not None:
        lines += ["used here", use[0]]
    elif start.operation and start.order < goal.order:
        lines += ["the target was computed here", start]
    else:
        if start.operation and start.location.is_known:
            lines += ["the target was computed here", start]
        return missing_gradient.verdict(
            "GT202",
            f"the target was not computed from {name} after it was watched",
            *lines,
            fix=[*_tensor_for_array(part, start), f"compute the target from {name} after tape.watch({name})"],
        )
    return verdict(
        "GT204",
        f"{name} was used before the tape was told to watch it",
        *lines,
        fix=[*_earlier_watch(goal), f"tape.watch({name}) at the top of the with block, before it is used"],
    )


def _tensor_for_array(part: ast.expr | None, start: WatchedRecord) -> list[Fix]:
    """The watched `tensor` in the place of the `array` it was made of, in what the target was computed from."""
    site = UserExpression.present()
    bound = site.binding(part) if isinstance(part, ast.Name) else None
    made = None if bound is None else site.source.at(bound)
    scope = next(iter(site.source.scopes(part)), None) if part is not None else None
    if not isinstance(part, ast.Name) or scope is None or not isinstance(made, ast.Call) or not made.args:
        return []
    array = made.args[0]
    if not isinstance(array, ast.Name) or array.id == part.id:
        return []
    uses = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name)
        and node.id == array.id
        and isinstance(node.ctx, ast.Load)
        and node is not array
        and node.lineno > array.lineno
    ]
    return [source_edit(part.id, site.source.span(uses[0]))] if len(uses) == 1 else []


def _use_before_block(part: ast.expr | None, watch: TapeWatch) -> Span | None:
    """The statement before the with block of a tape that computes, with a name, what the block computes with."""
    source = source_of(watch.entered.file)
    node: Any = source.find(watch.entered)
    while node is not None and not isinstance(node, ast.With):
        node = source.parents.get(node)
    scope = None if node is None else source.parents.get(node)
    block = next((b for b in (getattr(scope, name, None) for name in ("body", "orelse")) if node in (b or ())), None)
    if node is None or block is None or not isinstance(part, ast.Name):
        return None
    read = {each.id for inner in node.body for each in ast.walk(inner) if isinstance(each, ast.Name)}
    for statement in reversed(block[: block.index(node)]):
        names = [each for each in ast.walk(statement) if isinstance(each, ast.Name)]
        bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        uses = any(each.id == part.id and isinstance(each.ctx, ast.Load) for each in names)
        if part.id in bound:
            return None
        if uses and bound & read and isinstance(statement, ast.Assign):
            return source.span(statement.value)
    return None


def _earlier_watch(goal: LeafRecord) -> list[str]:
    """The statements of the with block with `tape.watch(x)` moved to the front."""
    source = source_of(goal.location.file)
    node = source.find(goal.location)
    statement = None if node is None else source.statement(node)
    block = None if statement is None else source.parents.get(statement)
    if statement is None or not isinstance(block, ast.With) or statement not in block.body:
        return []
    before = block.body[: block.body.index(statement)]
    if not before:
        return []
    spans = [source.span(each) for each in [*before, statement]]
    whole = Span(
        spans[0].file,
        spans[0].line,
        spans[0].column,
        spans[-1].end_column,
        source="\n".join(source.lines[spans[0].line - 1 : (spans[-1].end_line or spans[-1].line)]),
        end_line=spans[-1].end_line or spans[-1].line,
    )
    indent = " " * (spans[0].column or 0)
    return [source_edit(f"\n{indent}".join(span.text for span in [spans[-1], *spans[:-1]]), whole)]


def _explain_unwatched(target: Any, source: Any, goal: WatchedRecord, start: WatchedRecord, watch: TapeWatch) -> Why:
    site = UserExpression.present()
    part = site.asked()[1]
    name = one_line(site.source.text(part)) if isinstance(part, ast.Name | ast.Attribute) else "the source"
    made = _made_at(source, goal)
    lines: list[Any] = [] if made is None else ["made here", made]
    is_listed = part is not None and (
        isinstance(site.value(part), list | tuple) or getattr(part, "attr", "") in ("variables", "weights")
    )
    if isinstance(goal, VariableRecord) and part is not None and is_listed:
        return _explain_not_trainable(goal, name, site.source.span(part), lines)
    code_here = site.location.code
    parameters = () if code_here is None else code_here.co_varnames[: code_here.co_argcount]
    if watch.entered.code is code_here and name in parameters:  # an argument: to be watched here, for all callers
        places = [fix.replaces for fix in _watch_fix(name, watch) if isinstance(fix, Fix) and fix.replaces is not None]
        lines = [
            *(part for place in places for part in ("not watched before this", place)),
            *lines,
        ]
    if isinstance(goal, VariableRecord):
        return verdict(
            "GT212",
            f"{name} is a Variable with trainable=False, which a tape does not watch by itself",
            *lines,
            fix=[*_trainable_fix(made), *_watch_fix(name, watch), "tape.watch(v) inside the with block"],
        )
    reached = paths.all_behind(start)
    used = None if goal.is_shared else next((user for user in reached if goal in user.parents), None)
    used = used or paths.use_of(array_in(source), reached)
    if goal.operation and goal.is_tracked:
        code, words = "GT211", f"{name} was computed while this tape was not recording, so it is a constant for it"
    elif goal.is_cut:
        code, words = "GT203", f"{name} is a constant for this tape: its value left at {goal.reason}"
    elif goal.tapes and goal.is_tracked:
        code, words = "GT203", f"{name} is watched by another tape, not by this one"
        lines = ["this tape is opened here", span_of(watch.entered), "the other was told to watch it here", goal]
    else:
        code = "GT203"
        words = f"{name} is a tensor, and a tape watches only Variables unless it is told to"
    asked = site.asked()[0]
    use = None if asked is None else site.use(asked, lambda value: value is source)
    if used is not None:
        lines += ["the target uses it here", used]
    elif use is not None:
        lines += ["the target uses it here", use[0]]
    return verdict(code, words, *lines, fix=[*_watch_fix(name, watch), f"tape.watch({name}) inside the with block"])


def _explain_not_trainable(goal: VariableRecord, asked: str, place: Span, lines: list[Any]) -> Why:
    """A variable that is not trainable is in the list that gradients are asked for."""
    offered: list[str] = []
    owner, _, attribute = asked.rpartition(".")
    whole = "\n".join(source_of(place.file).lines)
    if attribute in ("variables", "weights") and owner:
        wanted = f"{owner}.trainable_{attribute}"
        offered = [source_edit(wanted, place) if whole.count(asked) == 1 else f"{wanted}, wherever {asked} is written"]
    return verdict(
        "GT212",
        f"{asked} has {goal.name} in it, which is not trainable",
        "asked for here",
        place,
        *lines,
        "moving averages, counters and random states are variables without a gradient",
        fix=[*offered, "ask for trainable_variables only"],
    )


def _trainable_fix(made: Span | None) -> list[str]:
    """`trainable=True` in the call that made the variable."""
    node = None if made is None else source_of(made.file).at(made)
    if made is None or not isinstance(node, ast.Call):
        return []
    source = source_of(made.file)
    keyword = next((k for k in node.keywords if k.arg == "trainable" and isinstance(k.value, ast.Constant)), None)
    return [] if keyword is None else [source_edit("True", source.span(keyword.value))]


def _watch_fix(name: str, watch: TapeWatch) -> list[str]:
    """`tape.watch(x)` as the first statement of the with block."""
    source = source_of(watch.entered.file)
    node: Any = source.find(watch.entered)
    while node is not None and not isinstance(node, ast.With):
        node = source.parents.get(node)
    if node is None or not name.isidentifier():
        return []
    bound = next((i.optional_vars for i in node.items if isinstance(i.optional_vars, ast.Name)), None)
    first = node.body[0]
    whole = source.span(first)
    if bound is None:
        return []
    indent = " " * (whole.column or 0)
    return [source_edit(f"{bound.id}.watch({name})\n{indent}{whole.text}", whole)]


# -- sources and targets that are not what the tape has recorded


def _explain_fresh_source(goal: Record, start: Record) -> Why | None:
    """A source that is computed in the call of `gradient` itself: `tape.gradient(u, x[:, 0])`."""
    site = UserExpression.present()
    part = site.asked()[1]
    is_made_there = isinstance(part, ast.Subscript | ast.BinOp | ast.Call) and goal.operation and goal.location.is_known
    if not is_made_there or part is None or goal.order < start.order or not start.operation:
        return None
    made = source_of(goal.location.file).find(goal.location)
    if made is None or source_of(goal.location.file) is not site.source or made not in [*ast.walk(part)]:
        return None
    text = one_line(site.source.text(part))
    offered: list[str] = []
    whole = site.source.span(site.node.value if isinstance(site.node, ast.Expr) else site.node)  # type: ignore[arg-type]
    if isinstance(part, ast.Subscript):
        name, index = one_line(site.source.text(part.value)), one_line(site.source.text(part.slice))
        asked = replace_span(whole, site.source.span(part), name)
        offered = [] if asked is None else [source_edit(f"{one_line(asked)}[{index}]", whole)]
    return verdict(
        "GT202",
        f"{text} makes a new tensor where it is written, and the target was computed before it",
        "made here",
        goal,
        fix=[*offered, "give it a name before the target is computed from that, or ask for the gradient of the whole"],
    )


def _was_computed_before(start: Record, goal: Record, watch: TapeWatch) -> bool:
    """Whether an operation between the target and the source is older than the tape's recording."""
    route = paths.route_back(start, goal, frozenset())
    return any(record.operation and record.order < watch.opened for record in route or ())


def _explain_cleared(place: Location) -> Why:
    """The tape was cleared after the computation."""
    source = source_of(place.file)
    node = source.find(place)
    is_reset = node is not None and ".reset(" in source.text(node)
    return verdict(
        "GT211",
        "what the tape had recorded was thrown away by reset()"
        if is_reset
        else "the tape was opened a second time, which throws away what it had recorded",
        "cleared here",
        place,
        fix="call reset() before the computation that counts, not after it"
        if is_reset
        else "compute everything in one with block, or make a new tape for each computation",
    )


def _written_on_the_way(start: Record, goal: Record) -> Record | None:
    """A value computed from the source that was written to a variable, which the target was computed from."""
    for record in paths.all_behind(start):
        written = record.assigned if isinstance(record, VariableRecord) else None
        if written is not None and any(goal in paths.all_behind(origin) for origin in written.origins()):
            return written
    return None


def _choice_on_the_way(start: Record, goal: Record) -> Record | None:
    """The positions, computed from the source, by which what the target was computed from was picked."""
    chosen = (cut for record in paths.all_behind(start) for cut in getattr(record, "chosen_by", ()))
    return next((cut for cut in chosen if goal in paths.all_behind(cut)), None)


# -- variables that the tape has not read


def _assigned_before(start: WatchedRecord) -> Record | None:
    """A value that was assigned to a variable on the way to the target."""
    return next((r for r in paths.all_behind(start) if r.reason.startswith("Variable.assign")), None)


__all__ = ["find_rebinding", "joint_fixes", "why"]
