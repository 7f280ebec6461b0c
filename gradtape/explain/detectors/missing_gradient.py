"""Detector: why a gradient is None. Each function explains one cause; `gradtape.explain.queries.why` chooses which."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gradtape.explain.graph import paths
from gradtape.explain.graph.cuts import code_of, cut_words, first_of, fix_for
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Span
from gradtape.explain.model.record import Record, SourceLocation, Watch
from gradtape.explain.model.why import Why
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import source_of, span_of
from gradtape.explain.source.libraries import array_of, is_tensor, is_variable, record_of, source_record_of
from gradtape.explain.source.parameter_names import join_names, name_of, name_of_target, names_of_leaves


def verdict(code: str, head: str, *lines: str | Record | SourceLocation | Span, fix: str | list[str]) -> Why:
    """No gradient, for one of the causes. A text before a node or location is its label; other texts are notes."""
    spans, notes = [], []
    label = ""
    for line in lines:
        if isinstance(line, str):
            if label:
                notes.append(label)
            label = line
            continue
        is_label = label.endswith((" here", " this")) or not label
        if not is_label:
            notes.append(label)
        text = label if is_label else ""
        if isinstance(line, Span):
            spans.append(line.labelled(text))
        else:
            place = line.location if hasattr(line, "location") else line
            if place.in_rule and text:
                text = text.replace(" here", " by the derivative of this")
            spans.append(span_of(place, text))
        label = ""
    if label:
        notes.append(label)
    return Why(problem(code, f"no gradient: {head}", spans=spans, notes=notes, fixes=fix))


def tensor_record(tensor: Any) -> Record:
    """The record of a tensor, which has one."""
    record = record_of(tensor)
    assert record is not None
    return record


def source_record(tensor: Any) -> Record:
    """The record that a gradient by a tensor is taken at."""
    record = source_record_of(tensor)
    assert record is not None
    return record


def explain_untracked_target(target: Any, source: Any, watch: Watch) -> Why:
    """The target is a number or an array: it left the tape somewhere, or was not computed from the source."""
    departure = paths.departure_of(source_record(source), watch) or paths.last_departure(None, watch)
    if departure is not None:
        return explain_departure(departure)
    kind = type(target).__name__
    return verdict(
        "GT202",
        f"the target is a plain {kind}, and nothing that was computed from the source went into it",
        fix="check the names: is it the source, or an array of the same numbers, that the target is computed from?",
    )


def explain_departure(departure: Record) -> Why:
    """The value left the tape as a number, an array or by assignment; the target has no connection to it."""
    code = code_of(departure)
    head = cut_words(departure, "")
    fix: str | list[str] = fix_for(departure, is_tape=False)
    if departure.reason.startswith("Variable.assign"):
        head = "the value was assigned to a variable"
    elif code == "GT210":
        from gradtape.explain.detectors.departure_fixes import describe_departure

        head, fix = describe_departure(departure)
    return verdict(
        code,
        head,
        departure,
        "what came back to the target from there, if anything, is a constant; otherwise it never used the source",
        fix=fix,
    )


def explain_cut_path(route: list[Record], watch: Watch) -> Why:
    """There is a path to the source, but it is cut: explain the first cut, seen from the target."""
    name = _recorder_words(watch)
    cuts = [node for node in route if node.is_cut and not node.joined]
    if cuts and watch.is_tape and cuts[0].reason in ("not recording", "another tape"):
        early = [node for node in route[:-1] if node.operation and not node.is_on(watch.tapes)]
        if early and early[-1].order < watch.opened:
            return verdict(
                "GT211",
                "it was computed before this tape was opened, while another was recording",
                early[-1],
                fix="compute it inside the with block of the tape that is asked; both tapes at once if they are nested",
            )
    if cuts:
        others = [f"and before that at {cut.reason}, {cut.location}" for cut in cuts[1:]]
        return verdict(
            code_of(cuts[0]), cut_words(cuts[0], name), cuts[0], *others, fix=fix_for(cuts[0], watch.is_tape)
        )
    blocked = paths.blocked(route)
    if blocked is not None and all(node.is_on(watch.tapes) for node in route):
        return verdict(
            "GT209",
            f"the source only steers {blocked.operation}, which has no derivative in it",
            blocked,
            fix="gt.sigmoid(k * x) is a smooth condition; weigh with it instead of choosing",
        )
    used = [node for node in route[:-1] if not node.is_on(watch.tapes)][-1]
    if watch.was_recording(used):
        return verdict("GT204", _late_watch_words(watch), "used here", used, fix=watch_fix(watch))
    fix = "compute it inside the with block of the tape that is asked"
    if not watch.is_tape:
        fix = "compute it outside of what a tape does by itself, or pass create_graph=True to the backward that made it"
    return verdict("GT211", f"the source was used while {name} was not recording", "used here", used, fix=fix)


def explain_unwatched_source(target: Any, source: Any, watch: Watch) -> Why:
    """The source is a constant for the tape (or the graph) that is asked: what it is, and where the target used it."""
    node, name = source_record(source), _recorder_words(watch)
    lines: list[str | Record | SourceLocation | Span] = []
    code = "GT203"
    if is_variable(source) and not node.is_variable:
        code = "GT212"
        lines.append("it is a Variable with trainable=False")
    elif is_variable(source) and watch.is_tape:
        code = "GT212"
        lines.append("the tape was made with watch_accessed_variables=False")
    elif is_variable(source):
        lines.append("a Variable is watched by tapes; .backward() sees it after v.requires_grad_()")
    elif node.is_cut:
        first = first_of(node)
        code = "GT205" if _rebound_name(node) else code_of(first)
        lines += [f"{cut_words(first, '')}, so it is a new tensor and a constant", "", first]
    elif node.operation:
        code = "GT211"
        lines += [f"it was computed while {name} was not recording", "", node]
    elif node.requires_grad and watch.is_tape:
        lines.append("requires_grad=True is for .backward(); a tape has to be told")
    elif node.is_tracked:
        code = "GT211"
        lines.append(f"it is watched by {'another' if watch.is_tape else 'a'} tape")
    else:
        lines.append("it is a tensor that nobody was told to watch: a constant")
    reached = paths.all_behind(tensor_record(target))
    used = next((user for user in reached if node in user.parents), None) if not node.is_shared else None
    used = used or paths.use_of(array_of(source), reached)
    if not node.operation and not node.is_cut and not node.is_shared:
        lines += ["made here", node]
    if used is not None and not node.is_cut:
        lines += ["the target uses it here", used]
    elif used is None and not node.is_cut:
        lines += _lines_from_names(source)
    head = f"the source is not watched by {name}" if watch.is_tape else "the source does not require a gradient"
    rebound = _rebound_name(node) if node.is_cut else ""
    return verdict(
        code,
        head,
        *lines,
        fix=f"a Variable keeps its place: {rebound}.assign(...) instead of {rebound} = ...; or {watch_fix(watch)}"
        if rebound
        else watch_fix(watch),
    )


def explain_unconnected(target: Any, source: Any, reached: dict[Record, None], watch: Watch) -> Why:
    """There is no path from the target to the source, not even one that is cut."""
    start, goal, name = tensor_record(target), source_record(source), _recorder_words(watch)
    used = paths.use_of(array_of(source), reached)
    if used is not None and used.order < goal.order:
        return verdict("GT204", _late_watch_words(watch), "used here", used, "watched here", goal, fix=watch_fix(watch))
    is_younger = start.operation and goal.order > start.order
    departure = None if is_younger else paths.departure_of(goal, watch)
    lost = next((node for node in reached if node.is_cut and node.has_lost_origins), None)
    guessing = departure is None and not is_younger and not _is_never_read(source, lost, watch)
    if lost is not None and guessing:
        head = cut_words(lost, name).replace("the value", "a value").replace("it was", "a value was")
        note = "what it was computed from is gone; if the source was part of it, this is where its gradient ends"
        return verdict(code_of(lost), head, lost, note, fix=fix_for(lost, watch.is_tape))
    if guessing:
        departure = paths.last_departure(start, watch)
    early = find_early_use(lambda value: value is source) if departure is None and not goal.operation else None
    if early is not None:
        return verdict(
            "GT204", _late_watch_words(watch), "used here", early[0], "watched here", goal, fix=watch_fix(watch)
        )
    if departure is not None:
        return explain_departure(departure)
    if goal.operation:
        code, words = _unused_result_words(start, goal, reached)
        return verdict(
            code,
            words,
            f"the source is the result of {goal.operation}, made here",
            goal,
            fix="give the tensor that the target uses a name of its own",
        )
    if is_younger and is_variable(source):
        return verdict(
            "GT202",
            "the source was made after the target was computed: it is not the variable that the target used",
            "the target was computed here",
            start,
            "the source was made here",
            goal,
            fix="ask for the variables that the target was computed from, before they are made anew",
        )
    if is_younger:
        return verdict(
            "GT204",
            f"{'the source was watched' if watch.is_tape else 'the source was made'} after the target was computed",
            "the target was computed here",
            start,
            "the source was watched here" if watch.is_tape else "the source was made here",
            goal,
            fix=watch_fix(watch),
        )
    taken = None if not watch.is_tape or start.operation else explain_gradient_taken_outside()
    if taken is not None:
        return taken
    made: list[str | Record] = [] if not start.operation else ["the target was computed here", start]
    called, wanted = name_of_target(target) or "the target", name_of(source)
    others = [name for name in names_of_leaves(reached) if name != wanted]
    instead = [f"{called} was computed from {join_names(others)}"] if others else []
    return verdict(
        "GT202",
        f"{called} was not computed from {wanted or 'the source'}",
        *instead,
        *made,
        f"{wanted or 'the source'}, of shape {source.shape}, is from here",
        goal,
        fix=f"use {wanted} in what {called} is computed from, or ask for the gradient of what is used there"
        if wanted and others
        else "check the names: is this the tensor that went into the target?",
    )


def explain_freed(node: Record, watch: Watch) -> Why:
    """The recording was freed by an earlier gradient, so the cause is not known."""
    freed = watch.spent if watch.is_tape else node.freed
    return verdict(
        "GT308",
        "not known, for what was recorded has been freed",
        *(() if freed is None else ("freed by this", freed)),
        fix="gt.GradientTape(persistent=True) keeps the recording; or ask why before asking for the gradient"
        if watch.is_tape
        else "retain_graph=True keeps the graph",
    )


def _lines_from_names(source: Any) -> list[str | Record | SourceLocation | Span]:
    """Where the source was made and where the target used it, as far as the names in the request show."""
    site = UserExpression.present()
    target_part, source_part = site.asked()
    lines: list[str | Record | SourceLocation | Span] = []
    made = None if source_part is None or not source_record(source).is_shared else site.binding(source_part)
    if made is not None:
        lines += ["made here", made]
    used = None if target_part is None else site.use(target_part, lambda value: value is source)
    if used is not None:
        lines += ["the target uses it here", used[0]]
    return lines


def find_early_use(is_source: Callable[[Any], bool]) -> tuple[Span, Any, str] | None:
    """A use, by the target, of a tensor that was only watched on a later line, as far as names show.

    Returns the expression that used it, the tensor, and its name.
    """
    site = UserExpression.present()
    target_part, _ = site.asked()
    found: list[Any] = []

    def is_later(value: Any) -> bool:
        if is_tensor(value) and not tensor_record(value).is_shared and is_source(value):
            found.append(value)
            return True
        return False

    used = None if target_part is None else site.use(target_part, is_later)
    if used is None:
        return None
    watched = span_of(tensor_record(found[-1]).location)
    if watched.file != used[0].file or watched.line <= used[0].line:
        return None
    return used[0], found[-1], used[1]


def explain_gradient_taken_outside() -> Why | None:
    """The target is a gradient that was taken outside of the with block of the tape that is asked now."""
    taken = _gradient_taken_outside()
    if taken is None:
        return None
    asked, owner = taken
    return verdict(
        "GT211",
        f"the target is a gradient that was taken while {owner} was not recording",
        "taken here",
        asked,
        fix=f"take it inside the with block of {owner}, one step further in: {owner} records how it is computed",
    )


def _gradient_taken_outside() -> tuple[Span, str] | None:
    """The call that took the gradient which is now the target, if it stands outside of the with block of the tape.

    As far as names show: `dy = inner.gradient(y, x)`, then `outer.gradient(dy, x)`. Also the name of that tape.
    """
    site = UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    tape = getattr(getattr(call, "func", None), "value", None)
    target, _ = site.asked()
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    bound = site.binding(target) if isinstance(target, ast.Name) and isinstance(tape, ast.Name) else None
    taken = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    if not isinstance(taken, ast.Call) or not isinstance(taken.func, ast.Attribute) or not isinstance(tape, ast.Name):
        return None
    if taken.func.attr not in ("gradient", "jacobian", "batch_jacobian"):
        return None
    around: ast.AST | None = taken
    while around is not None:
        if isinstance(around, ast.With) and any(getattr(i.optional_vars, "id", "") == tape.id for i in around.items):
            return None
        around = site.source.parents.get(around)
    return site.source.span(taken), tape.id


def _is_never_read(source: Any, lost: Record | None, watch: Watch) -> bool:
    """Whether `source` is a variable that no operation has read while the tape was on."""
    if not watch.is_tape or not watch.watches_variables or not is_variable(source):
        return False
    unseen = lost is not None and lost.reason in ("no_grad", "not recording", "another tape", "another thread")
    return not watch.has_read(source_record(source)) and not unseen


def _unused_result_words(start: Record, goal: Record, reached: dict[Record, None]) -> tuple[str, str]:
    """Code and words for a source that is itself a result, one that the target was not computed from."""
    name = _rebound_name(goal)
    shared = any(node in reached and node.is_tracked for node in paths.all_behind(goal))
    if name and shared:
        return "GT205", f"the name {name} was bound to a new tensor, and the target was computed from the old one"
    if start.operation and goal.order > start.order:
        return "GT202", "the source was computed after the target"
    if shared:
        return "GT202", "the target was computed from what the source was computed from, not from the source"
    return "GT202", "the target was not computed from the source"


def _rebound_name(node: Record) -> str:
    """The name that the statement at `node` rebinds from its old value (`x = x + 1`); empty for other statements."""
    source = source_of(node.location.file)
    expression = source.find(node.location)
    statement = None if expression is None else source.statement(expression)
    if isinstance(statement, ast.AugAssign):
        return source.text(statement.target)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name | ast.Attribute | ast.Subscript):
        name = source.text(statement.targets[0])
        reads = (ast.Name, ast.Attribute, ast.Subscript)
        if any(isinstance(part, reads) and source.text(part) == name for part in ast.walk(statement.value)):
            return name
    return ""


def _recorder_words(watch: Watch) -> str:
    return "this tape" if watch.is_tape else "the graph"


def _late_watch_words(watch: Watch) -> str:
    return f"the source was used before {'this tape watched it' if watch.is_tape else 'it required a gradient'}"


def watch_fix(watch: Watch) -> str:
    """The edit that makes the source tracked: `requires_grad` for the graph of `.backward()`, else `tape.watch`."""
    if not watch.is_tape:
        return "gt.tensor(data, requires_grad=True), or x.requires_grad_() before it is used"
    source = UserExpression.present().asked()[1]
    name = source.id if isinstance(source, ast.Name) else "x"
    return f"{name} = tape.watch({name}) at the top of the with block, before it is used"
