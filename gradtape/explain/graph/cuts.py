"""Cuts, where a value left the tape: the code of each, its description, and a fix."""

from __future__ import annotations

import ast

from gradtape.explain.model.problem import Fix, source_edit
from gradtape.explain.model.record import Record
from gradtape.explain.render.spelling import library_of, name_in
from gradtape.explain.source.expression import offsets
from gradtape.explain.source.files import SourceFile, one_line, source_of

DEPARTURES = frozenset(
    {"float()", "int()", "complex()", "bool()", "operator.index()", ".item()", ".numpy()", ".tolist()", "np.asarray()"}
    | {"convert_to_numpy()"}
    | {"gt.tensor()", "bytes()", ".tobytes()", ".tofile()", ".dump()", ".dumps()", "pickle"}
    | {"np.save", "np.savetxt", "np.savez", "np.savez_compressed"}
)

FILES = frozenset({".tofile()", ".dump()", "np.save", "np.savetxt", "np.savez", "np.savez_compressed"})
"""The reasons of the cuts of values that were written to files."""

TEXTS = frozenset({"str()", "repr()", "format()", "np.array2string", "np.array_repr", "np.array_str"})
"""The reasons of the cuts of values that were made into text, to be shown mostly."""

IN_THREAD = (
    "have the thread run in a copy of this context: executor.submit(contextvars.copy_context().run, function, x), or "
    "Thread(target=contextvars.copy_context().run, args=(function, x))"
)
"""What to do for values that a thread computes without seeing the tape."""

WITHOUT_GRAPH = "a gradient without create_graph"
"""The reason of a cut at a gradient that was computed as a plain number, and is differentiated again."""

REENTRANT = "a reentrant checkpoint"
"""The reason of a cut at `checkpoint(f, data, use_reentrant=True)`, where no argument requires a gradient."""

_POSITIONS = "positions have no derivative; use the values: x.max(), gt.softmax(x) as weights, gt.take_along_axis"
_ROUNDING = "x + gt.stop_gradient(gt.round(x) - x) rounds and lets the gradient pass"
_STEPS = "a smooth stand-in has a derivative: gt.tanh(k * x) for the sign, gt.sigmoid(k * x) for a step"
_CHOICES = "gt.where(condition, a, b) passes the gradient to a and b; gt.sigmoid(k * (a - b)) is a smooth comparison"
_ASSIGNMENT = "compute with the tensor that was assigned; gradients do not flow through an assignment"
_DRAWS = "gt.random.gumbel_softmax is a smooth stand-in; or a score-function estimator, with gt.stats' logpmf"
FIXES = {
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


_TO_INTEGERS = frozenset({"round", "rint", "floor", "ceil", "trunc", "a cast to integer or bool"})


def first_of(cut: Record) -> Record:
    """The cut itself, or the first of several that were joined in one value."""
    return cut.joined[0] if cut.joined else cut


def code_of(cut: Record) -> str:
    """The code of the cause that a cut is."""
    reason = cut.reason
    if reason in ("no_grad", "stop_gradient", WITHOUT_GRAPH, REENTRANT):
        return "GT208"
    if reason in ("not recording", "another tape", "another thread"):
        return "GT211"
    if reason.startswith("a cast"):
        return "GT207"
    if reason.startswith("Variable.assign"):
        return "GT206"
    if reason in (".numpy()", ".item()", ".tolist()", ".data") and cut.library != "tensorflow":
        return "GT208"  # explicit, so it is taken as intended; in TensorFlow it is the way to NumPy's functions
    return "GT210" if reason in DEPARTURES else "GT209"


def cut_words(cut: Record, tape_name: str) -> str:
    """A sentence that describes a cut."""
    return _cut_words(cut, tape_name).replace("the tape", "the graph" if cut.library == "torch" else "the tape")


def _cut_words(cut: Record, tape_name: str) -> str:
    reason = cut.reason
    if reason == "not recording":
        head = f"it was computed while {f'{tape_name} was not' if tape_name else 'no tape was'} recording"
    elif reason == "another thread":
        head = "it was computed in a thread that does not see the tape"
    elif reason == "no_grad":
        head = "it was computed under no_grad"
    elif reason == REENTRANT:
        head = "it was computed by a reentrant checkpoint, none of whose arguments requires a gradient"
    elif reason == WITHOUT_GRAPH:
        head = "it was computed from a gradient that was taken without create_graph=True, and has no history"
    elif reason == "another tape":
        head = "the value comes from another tape, which was not recording"
    elif reason == "stop_gradient":
        head = f"the value left the tape at {'detach' if '.detach' in cut.location.segment else reason}"
    elif reason == "gt.tensor()" and cut.library:
        head = "a new tensor was made of the numbers, and it has no history"
    elif reason.startswith("a cast") or reason in DEPARTURES or reason == ".data":
        head = f"the value left the tape at {reason}"
    else:
        head = f"the value left the tape at {reason}, which has no derivative"
    return head


def fix_for(cut: Record, is_tape: bool) -> str:
    """What to write instead of a cut; `is_tape` if a tape was asked for the gradient, not `backward`."""
    if cut.reason == WITHOUT_GRAPH:
        return "create_graph=True in the call that takes this gradient, which keeps what it was computed from"
    if cut.reason == REENTRANT:
        return "use_reentrant=False, which records the parameters of the function as well"
    if cut.reason == "no_grad":
        return "compute it outside of gt.no_grad(), or under gt.enable_grad()"
    if cut.reason == "another thread":
        return IN_THREAD
    if cut.reason in ("not recording", "another tape"):
        return (
            "compute it inside the with block of the tape that is asked"
            if is_tape
            else "gt.tensor(data, requires_grad=True) for what it is computed from, and no gt.no_grad() around it"
        )
    if (kept := _undo_departure(cut)) is not None:
        return kept
    if cut.reason in (".item()", ".numpy()", ".tolist()", "float()"):
        return f"compute with the tensor itself, without {cut.reason}"
    if cut.reason in _TO_INTEGERS and (table := _indexed_table(cut)):
        return f"np.interp(x, np.arange(len({table})), {table}) reads between the entries of {table}, and has a slope"
    if cut.reason == "floor_divide" and (divided := _true_division(cut)) is not None:
        return divided
    if cut.reason.endswith(", a discrete draw"):
        return _DRAWS
    return FIXES.get(cut.reason, "gt.custom_vjp gives a function of your own a derivative")


def _indexed_table(cut: Record) -> str:
    """The name of the table that a rounded value indexes: `k = np.round(t).astype(int)`, then `table[k]`."""
    source = source_of(cut.location.file)
    node = source.find(cut.location)
    statement = None if node is None else source.statement(node)
    if node is None or statement is None:
        return ""
    around: ast.AST | None = node
    while around is not None and around is not statement:
        holder = source.parents.get(around)
        if isinstance(holder, ast.Subscript) and around is holder.slice and isinstance(holder.value, ast.Name):
            return holder.value.id
        around = holder
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    scope = next(source.scopes(node), None)
    if scope is None or not isinstance(target, ast.Name):
        return ""
    read = [part for part in ast.walk(scope) if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)]
    names = [part.value for part in read if isinstance(part.slice, ast.Name) and part.slice.id == target.id]
    return names[0].id if names and isinstance(names[0], ast.Name) else ""


def _undo_departure(cut: Record) -> Fix | None:
    """`x` instead of the `gt.stop_gradient(x)`, `x.detach()`, `x.numpy()` or `float(x)` where a value left the tape."""
    source = source_of(cut.location.file)
    node = source.find(cut.location)
    if isinstance(node, ast.Attribute) and f".{node.attr}" == cut.reason == ".data":
        if isinstance(node.ctx, ast.Store):
            return _bound_anew(source, node)
        return source_edit(one_line(source.text(node.value)), source.span(node))
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if (
        name in ("detach", "numpy", "item", *_INTEGER_METHODS)
        and isinstance(node.func, ast.Attribute)
        and not node.args
    ):
        kept = node.func.value
    elif (name == "stop_gradient" or f"{name}()" == cut.reason == "float()") and len(node.args) == 1:
        kept = node.args[0]
    else:
        return None
    if name == "numpy" and cut.library:
        return None  # what is computed from the array would have to be written anew
    around = _number_function(source, node)
    if around is not None and cut.library:
        return _with_tensors(source, around, node, kept, cut.library)
    is_atom = isinstance(kept, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    is_whole = isinstance(source.parents.get(node), ast.Assign | ast.Return | ast.Call)
    text = one_line(source.text(kept))
    return source_edit(text if is_atom or is_whole else f"({text})", source.span(node))


def _bound_anew(source: SourceFile, target: ast.Attribute) -> Fix | None:
    """`h = h - rate * g` for `h.data = h.data - rate * g`; not evaluated, because it would bind the name."""
    statement = source.statement(target)
    if not isinstance(statement, ast.Assign) or statement.targets != [target] or not isinstance(target.value, ast.Name):
        return None
    span = source.span(statement)
    text = one_line(source.text(statement))
    return source_edit(text.replace(f"{source.text(target)}", target.value.id), span)


def _number_function(source: SourceFile, node: ast.AST) -> ast.Call | None:
    """The call around an expression that takes a number and no tensor: `math.exp(-x.item())`, `float(x.item())`."""
    around = source.parents.get(node)
    while isinstance(around, ast.expr):
        if isinstance(around, ast.Call):
            function = around.func
            owner = function.value if isinstance(function, ast.Attribute) else None
            is_math = isinstance(owner, ast.Name) and owner.id in ("math", "np", "numpy")
            is_builtin = isinstance(function, ast.Name) and function.id in ("float", "int", "round")
            return around if is_math or is_builtin else None
        around = source.parents.get(around)
    return None


def _with_tensors(source: SourceFile, call: ast.Call, node: ast.expr, kept: ast.expr, library: str) -> Fix | None:
    """`torch.exp(-x)` for `math.exp(-x.item())`."""
    function = call.func
    is_math = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    bound = library_of(source.imports)[1] or library
    name = name_in(library, function.attr) if isinstance(function, ast.Attribute) and is_math else ""
    if not name or len(call.args) != 1 or call.keywords:
        return None
    whole = source.span(call)
    start, end = offsets(whole, source.span(node))
    inner = one_line(whole.text[:start] + source.text(kept) + whole.text[end:])
    return source_edit(f"{bound}.{name}{inner[len(one_line(source.text(function))) :]}", whole)


_INTEGER_METHODS = ("int", "long", "short")  # PyTorch's casts


def _true_division(cut: Record) -> Fix | None:
    """`a / b` instead of the `a // b` where a value left the tape."""
    source = source_of(cut.location.file)
    node = source.find(cut.location)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
        return None
    whole = source.span(node)
    left, right = source.span(node.left), source.span(node.right)
    between = whole.text[offsets(whole, left)[1] : offsets(whole, right)[0]]
    middle = between.replace("//", "/", 1)
    return source_edit(one_line(whole.text.replace(between, middle, 1)), whole)
