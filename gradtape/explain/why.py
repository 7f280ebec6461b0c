"""Why a gradient is what it is: the path it takes, or the place where it was lost.

The graph remembers more than gradients need: a value that left the tape left a `Cut` behind, which knows the line and
(weakly) what it was cut from. Following the graph through its cuts tells a value that was cut off from one never used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

from gradtape.core.graph import AMBIENT, FLAGS, LIFTED_NODE, UNTRACKED, VARIABLE, Cut, Node, departures
from gradtape.core.guard import Guarded
from gradtape.core.recording import Recording
from gradtape.core.tensor import Tensor, Variable

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

LONGEST_PATH_SHOWN = 12

_POSITIONS = "positions have no derivative; use the values: x.max(), gt.softmax(x) as weights, gt.take_along_axis"
_ROUNDING = "x + gt.stop_gradient(gt.round(x) - x) rounds and lets the gradient pass"
_STEPS = "a smooth stand-in has a derivative: gt.tanh(k * x) for the sign, gt.sigmoid(k * x) for a step"
_CHOICES = "gt.where(condition, a, b) passes the gradient to a and b; gt.sigmoid(k * (a - b)) is a smooth comparison"
_ASSIGNMENT = "compute with the tensor that was assigned; gradients do not flow through an assignment"
_FIXES = {
    "stop_gradient": "use the value itself where its gradient is wanted",
    "a cast to integer or bool": "stay with floating point numbers, x.astype(float) or x as it is",
    **dict.fromkeys(("argmax", "argmin", "argsort", "nonzero", "count_nonzero"), _POSITIONS),
    **dict.fromkeys(("round", "rint", "floor", "ceil", "trunc", "floor_divide"), _ROUNDING),
    **dict.fromkeys(("sign", "signbit"), _STEPS),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), _CHOICES),
    **dict.fromkeys(("Variable.assign", "Variable.assign_add", "Variable.assign_sub"), _ASSIGNMENT),
    "gt.tensor()": "use the tensor itself; gt.stack and gt.concatenate join tensors",
    "bool()": "gt.where(condition, a, b) instead of a branch",
}


def why(target: Any, source: Any, mask: int, tape: GradientTape | None = None) -> str:
    """Why the gradient of `target` with respect to `source`, along the tapes in `mask`, is what it is.

    The first line is the verdict; then come the lines of the user's program it rests on, and what to write instead.

    >>> import gradtape as gt
    >>> x = gt.Variable([1.0, 2.0])
    >>> with gt.GradientTape(persistent=True) as tape:
    ...     y = gt.round(x) * 3.0
    >>> print(tape.why(y, x).splitlines()[0])
    no gradient: the value left the tape at round, which has no derivative
    """
    if not isinstance(source, Tensor):
        return _verdict(f"the source is a {type(source).__name__}, which no tape can watch", fix=_watch_fix(tape))
    if source.dtype.kind not in "fc":
        return _verdict(
            f"the source has dtype {source.dtype}; only floating point numbers have gradients",
            fix="write the numbers with a point (1.0), or x.astype(float) before it is watched",
        )
    if not isinstance(target, Tensor):
        departure = _departure(source._node, mask)
        return _verdict(
            f"the target is a {type(target).__name__}, which has no history",
            *(() if departure is None else (f"  it may have left the tape at {departure.reason}", departure)),
            fix="pass the tensor itself",
        )
    start, goal = target._node, source._node
    route = _route(start, goal, mask)
    if route and all(node.bits & mask for node in route) and not _blocked(route):
        return _flow(route, target, source)
    if _is_freed(goal):
        return _gone(goal, tape)
    if not goal.bits & mask:
        return _not_watched(target, source, mask, tape)
    if route:
        return _interrupted(route, mask, tape)
    reached = _reached(start)
    freed = next((node for node in reached if _is_freed(node)), None)
    if freed is not None:
        return _gone(freed, tape)
    return _unconnected(target, source, reached, mask, tape)


def why_untracked(target: Tensor) -> str:
    """Why `.backward()` finds nothing to walk: what the target is instead of a tensor that requires a gradient.

    >>> import gradtape as gt
    >>> why_untracked(gt.tensor(1.0))
    'it is a constant: no tensor that requires a gradient went into it'
    """
    node = target._node
    if isinstance(node, Cut):
        return "\n".join(_cut_lines(_first(node), ""))
    if isinstance(target, Variable):
        return "it is a Variable, which tapes watch; .backward() wants v.requires_grad_() first"
    if node.bits > FLAGS and not node.bits & AMBIENT:
        return (
            f"it was recorded by a GradientTape only; tape.gradient(target, sources) asks that tape\n{_show(node)}"
            if node.op is not None
            else "it is watched by a GradientTape only, which answers tape.gradient(target, sources)"
        )
    if target.dtype.kind not in "fc":
        return f"it has dtype {target.dtype}; only floating point numbers have gradients"
    return "it is a constant: no tensor that requires a gradient went into it"


# -- what the graph says


def _origins(node: Node) -> Iterator[Node]:
    """What `node` was made from: its parents, and what a cut was cut from as far as that is still alive."""
    yield from node.parents
    if isinstance(node, Cut):
        yield from node.joined
        for reference in node.sources:
            source = reference()
            if source is not None:
                yield source


def _route(start: Node, goal: Node, mask: int) -> list[Node]:
    """The way from `start` back to `goal` that leaves the tapes in `mask` the least; empty if there is none."""
    if goal is UNTRACKED or goal is LIFTED_NODE or (isinstance(goal, Cut) and start is goal):
        return []  # nodes that many tensors share say nothing about any of them
    came_from: dict[Node, Node | None] = {}
    tie = count()
    heap: list[tuple[int, int, int, Node, Node | None]] = [(not start.bits & mask, 0, next(tie), start, None)]
    while heap:
        gaps, length, _, node, previous = heappop(heap)
        if node in came_from:
            continue
        came_from[node] = previous
        if node is goal:
            break
        for index, origin in enumerate(_origins(node)):
            if origin not in came_from:
                gap = not origin.bits & mask or _steers(node, index)
                heappush(heap, (gaps + gap, length + 1, next(tie), origin, node))
    if goal not in came_from:
        return []
    route: list[Node] = []
    step: Node | None = goal
    while step is not None:
        route.append(step)
        step = came_from[step]
    return route[::-1]


def _steers(node: Node, index: int) -> bool:
    """Whether input `index` only steers the operation (the condition of `where`): then it gets no gradient."""
    op = node.op
    if op is None or op.kind != "linear" or not op.needs:
        return False
    return index in op.needs[index]  # a linear rule never uses the value of its own input, and a steering input does


def _blocked(route: list[Node]) -> Node | None:
    """The first operation on the way that only lets itself be steered by what comes next."""
    for node, origin in pairwise(route):
        indices = [index for index, parent in enumerate(node.parents) if parent is origin]
        if indices and all(_steers(node, index) for index in indices):
            return node
    return None


def _reached(start: Node, reached: dict[Node, None] | None = None) -> dict[Node, None]:
    """Everything that `start` was made from, as far as it is known, and itself; added to `reached` if given."""
    reached = {} if reached is None else reached
    pending = [start]
    while pending:
        node = pending.pop()
        if node not in reached:
            reached[node] = None
            pending.extend(_origins(node))
    return reached


def _is_freed(node: Node) -> bool:
    """Whether `node` was an operation whose history has been let go."""
    return node.op is not None and not node.parents


def _departure(goal: Node, mask: int) -> Cut | None:
    """The latest place where a value computed from `goal` on this tape left as a plain number or array."""
    elsewhere: dict[Node, None] = {}
    for departure in reversed(departures):
        for reference in departure.sources:
            node = reference()
            if node is None or not node.bits & mask:
                continue
            _reached(node, elsewhere)
            if goal in elsewhere:
                return departure
    return None


def _use_of(value: Any, nodes: dict[Node, None]) -> Node | None:
    """An operation among `nodes` that saved exactly this array, whoever the tensor was at the time."""
    if value is None:  # a tensor inside vmap has no array of its own
        return None
    for node in nodes:
        for item in node.inputs:
            if (item.array if type(item) is Guarded else item) is value:
                return node
    return None


# -- the verdicts


def _flow(route: list[Node], target: Tensor, source: Tensor) -> str:
    """The operations between the target and the source."""
    if len(route) == 1:
        return f"the target is the source: its gradient is the seed, of shape {source.shape}"
    number = len(route) - 1
    half = LONGEST_PATH_SHOWN // 2
    shown = route[:-1] if number <= LONGEST_PATH_SHOWN else route[:half] + route[-1 - half : -1]
    rows = [(node.op.name, str(node.shape), node.location) for node in shown if node.op is not None]
    name_width, shape_width = max(len(name) for name, _, _ in rows), max(len(shape) for _, shape, _ in rows)
    lines = [
        f"  {name:<{name_width}}  {shape:<{shape_width}}  {location}   {location.source}".rstrip()
        for name, shape, location in rows
    ]
    if number > LONGEST_PATH_SHOWN:
        lines.insert(half, f"  ... {number - 2 * half} more operations ...")
    head = f"the gradient flows: {number} operation{'s' * (number != 1)} from the target back to the source"
    return "\n".join([head, *lines, f"  the source, of shape {source.shape}"])


def _interrupted(route: list[Node], mask: int, tape: GradientTape | None) -> str:
    """The way to the source exists and leaves the tape: where it does for the first time, seen from the target."""
    name = _name(tape)
    cuts = [node for node in route if isinstance(node, Cut) and not node.joined]
    if cuts:
        head, *lines = _cut_lines(cuts[0], name)
        others = [f"  and before that at {cut.reason}, {cut.location}" for cut in cuts[1:]]
        return _verdict(head, *lines, *others, fix=_fix_for(cuts[0], tape))
    blocked = _blocked(route)
    if blocked is not None and all(node.bits & mask for node in route):
        assert blocked.op is not None
        return _verdict(
            f"the source only steers {blocked.op.name}, which has no derivative in it",
            blocked,
            fix="gt.sigmoid(k * x) is a smooth condition; weigh with it instead of choosing",
        )
    used = [node for node in route[:-1] if not node.bits & mask][-1]
    state = used.recording
    if isinstance(state, Recording) and state.bits & mask & ~VARIABLE:
        return _verdict(_too_late(tape), "  used at", used, fix=_watch_fix(tape))
    fix = "compute it inside the with block of the tape that is asked"
    if tape is None:
        fix = "compute it outside of what a tape does by itself, or pass create_graph=True to the backward that made it"
    return _verdict(f"the source was used while {name} was not recording", "  used at", used, fix=fix)


def _cut_lines(cut: Cut, tape_name: str) -> list[str]:
    """The verdict on a cut, and the line it was made at."""
    reason = cut.reason
    if reason == "not recording":
        head = f"it was computed while {f'{tape_name} was not' if tape_name else 'no tape was'} recording"
    elif reason == "no_grad":
        head = "it was computed under no_grad"
    elif reason == "another tape":
        head = "the value comes from another tape, which was not recording"
    elif reason == "stop_gradient":
        head = f"the value left the tape at {'detach' if '.detach' in cut.location.segment else reason}"
    elif reason.startswith("a cast"):
        head = f"the value left the tape at {reason}"
    else:
        head = f"the value left the tape at {reason}, which has no derivative"
    return [head, _show(cut)]


def _fix_for(cut: Cut, tape: GradientTape | None) -> str:
    if cut.reason == "no_grad":
        return "compute it outside of gt.no_grad(), or under gt.enable_grad()"
    if cut.reason in ("not recording", "another tape"):
        return (
            "compute it inside the with block of the tape that is asked"
            if tape is not None
            else "gt.tensor(data, requires_grad=True) for what it is computed from, and no gt.no_grad() around it"
        )
    return _FIXES.get(cut.reason, "gt.custom_vjp gives a function of your own a derivative")


def _not_watched(target: Tensor, source: Tensor, mask: int, tape: GradientTape | None) -> str:
    """The source is a constant for those who are asked: what it is, and where the target used it."""
    node, name = source._node, _name(tape)
    lines: list[str | Node] = []
    if isinstance(source, Variable) and not node.bits & VARIABLE:
        lines.append("  it is a Variable with trainable=False")
    elif isinstance(source, Variable) and tape is not None:
        lines.append("  the tape was made with watch_accessed_variables=False")
    elif isinstance(source, Variable):
        lines.append("  a Variable is watched by tapes; .backward() sees it after v.requires_grad_()")
    elif isinstance(node, Cut):
        head, show = _cut_lines(_first(node), "")
        lines += [f"  {head}, so it is a new tensor and a constant", show]
    elif node.op is not None:
        lines += [f"  it was computed while {name} was not recording", node]
    elif node.bits & AMBIENT and tape is not None:
        lines.append("  requires_grad=True is for .backward(); a tape has to be told")
    elif node.bits > FLAGS:
        lines.append(f"  it is watched by {'another' if tape is not None else 'a'} tape")
    else:
        lines.append("  it is a tensor that nobody was told to watch: a constant")
    reached = _reached(target._node)
    used = next((user for user in reached if node in user.parents), None) if node is not UNTRACKED else None
    used = used or _use_of(source._array, reached)
    if used is not None and not isinstance(node, Cut):
        lines += ["  the target uses it at", used]
    head = f"the source is not watched by {name}" if tape is not None else "the source does not require a gradient"
    rebound = isinstance(node, Cut) and bool(_rebinding(node))
    return _verdict(
        head,
        *lines,
        fix=f"a Variable keeps its place: v.assign(...) instead of {_rebinding(node)} = ...; or {_watch_fix(tape)}"
        if rebound
        else _watch_fix(tape),
    )


def _unconnected(
    target: Tensor, source: Tensor, reached: dict[Node, None], mask: int, tape: GradientTape | None
) -> str:
    """No way from the target to the source, not even an interrupted one."""
    start, goal, name = target._node, source._node, _name(tape)
    used = _use_of(source._array, reached)
    if used is not None and used.order < goal.order:
        return _verdict(_too_late(tape), "  used at", used, "  watched at", goal, fix=_watch_fix(tape))
    is_younger = start.op is not None and goal.order > start.order
    lost = next((node for node in reached if isinstance(node, Cut) and _has_lost_sources(node)), None)
    if lost is not None and not is_younger:
        head, *lines = _cut_lines(lost, name)
        head = head.replace("the value", "a value").replace("it was", "a value was")
        note = "  what it was computed from is gone; if the source was part of it, this is where its gradient ends"
        return _verdict(head, *lines, note, fix=_fix_for(lost, tape))
    departure = None if is_younger else _departure(goal, mask)
    if departure is not None:
        assigned = departure.reason.startswith("Variable.assign")
        return _verdict(
            "the value was assigned to a variable" if assigned else f"the value left the tape at {departure.reason}",
            departure,
            "  what came back to the target from there, if anything, is a constant; otherwise it never used the source",
            fix=_FIXES.get(departure.reason, "compute with the tensor itself: np.exp(x), not math.exp(x)"),
        )
    if goal.op is not None:
        return _verdict(
            _bypassed(start, goal, reached),
            f"  the source is the result of {goal.op.name}, made at",
            goal,
            fix="give the tensor that the target uses a name of its own",
        )
    if is_younger:
        return _verdict(
            f"{'the source was watched' if tape is not None else 'the source was made'} after the target was computed",
            "  the target was computed at",
            start,
            "  the source was watched at" if tape is not None else "  the source was made at",
            goal,
            fix=_watch_fix(tape),
        )
    made: list[str | Node] = [] if start.op is None else ["  the target was computed at", start]
    return _verdict(
        "the target was not computed from the source",
        *made,
        f"  the source has shape {source.shape}; what counts is what used it after",
        goal,
        fix="check the names: is this the tensor that went into the target?",
    )


def _bypassed(start: Node, goal: Node, reached: dict[Node, None]) -> str:
    """What to say of a source that is itself a result, one that the target was not computed from."""
    name = _rebinding(goal)
    shared = any(node in reached and node.bits > FLAGS for node in _reached(goal))
    if name and shared:
        return f"the name {name} was bound to a new tensor, and the target was computed from the old one"
    if start.op is not None and goal.order > start.order:
        return "the source was computed after the target"
    if shared:
        return "the target was computed from what the source was computed from, not from the source"
    return "the target was not computed from the source"


def _has_lost_sources(cut: Cut) -> bool:
    return any(reference() is None for reference in cut.sources)


def _first(cut: Cut) -> Cut:
    """The cut itself, or the first of several that met in one value."""
    return cut.joined[0] if cut.joined else cut


def _gone(node: Node, tape: GradientTape | None) -> str:
    """The recording that could tell was freed by an earlier gradient."""
    freed = node.freed if tape is None else tape._spent
    return _verdict(
        "not known, for what was recorded has been freed",
        *(() if freed is None else ("  freed by", freed.show())),
        fix="gt.GradientTape(persistent=True) keeps the recording; or ask why before asking for the gradient"
        if tape is not None
        else "retain_graph=True keeps the graph",
    )


# -- words


def _verdict(head: str, *lines: str | Node, fix: str) -> str:
    shown = [line if isinstance(line, str) else _show(line) for line in lines]
    return "\n".join([f"no gradient: {head}", *shown, f"  fix: {fix}"])


def _show(node: Node) -> str:
    return node.location.show()


def _name(tape: GradientTape | None) -> str:
    return "this tape" if tape is not None else "the graph"


def _too_late(tape: GradientTape | None) -> str:
    return f"the source was used before {'this tape watched it' if tape is not None else 'it required a gradient'}"


def _watch_fix(tape: GradientTape | None) -> str:
    if tape is None:
        return "gt.tensor(data, requires_grad=True), or x.requires_grad_() before it is used"
    return "x = tape.watch(x) at the top of the with block, before it is used"


def _rebinding(node: Node) -> str:
    """The name that the statement at `node` binds anew from its old value (`x = x + 1`), if it is such a statement."""
    try:
        statement = ast.parse(node.location.source).body[0]
    except (SyntaxError, IndexError):
        return ""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id
        if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(statement.value)):
            return name
    return ""
