"""What to write so that a value stays on the tape: for conversions, writes into plain arrays, and lists of numbers."""

from __future__ import annotations

import ast

import numpy as np

from gradtape.explain.detectors.foreign_function import find_foreign_call, fixes_for_math_argument
from gradtape.explain.fixes.import_edits import fixes_by_import, fixes_by_import_for, takes_tensors
from gradtape.explain.graph.cuts import FILES, TEXTS
from gradtape.explain.model.problem import Fix, Span, source_edit
from gradtape.explain.model.record import Record
from gradtape.explain.render.spelling import library_of
from gradtape.explain.source.expression import UserExpression, replace_span, site_at
from gradtape.explain.source.files import one_line

_WRITE_METHODS = frozenset(["fill", "put", "itemset"])  # methods of arrays that write numbers into them


def array_written_to(left: ast.AST) -> ast.expr | None:
    """The array that the departing value is written into, by `array[i] = x`, `array.fill(x)` or `array.flat[i] = x`."""
    if isinstance(left, ast.Call) and isinstance(left.func, ast.Attribute) and left.func.attr in _WRITE_METHODS:
        return left.func.value
    if not isinstance(left, ast.Subscript) or not isinstance(left.ctx, ast.Store):
        return None
    array = left.value
    return array.value if isinstance(array, ast.Attribute) and array.attr in ("flat", "T") else array


def exit_expression(departure: Record) -> tuple[UserExpression, ast.AST | None]:
    """Where a value left the tape, and the expression that took it."""
    site = site_at(departure.location)
    return site, site.node.value if isinstance(site.node, ast.Expr) else site.node


def describe_departure(departure: Record) -> tuple[str, list[str]]:
    """How a value left the tape, in words, and what to write instead."""
    site, left = exit_expression(departure)
    return f"the value left the tape as {exit_words(site, left, departure)}", fixes_for_departure(site, left, departure)


def exit_words(site: UserExpression, left: ast.AST | None, departure: Record) -> str:
    if isinstance(left, ast.Subscript):
        return "an element of a NumPy array"
    if isinstance(left, ast.Call) and array_written_to(left) is not None:
        return "what is written into a NumPy array"
    if isinstance(left, ast.Call) and getattr(getattr(left.func, "value", None), "id", "") == "math":
        return f"the argument of {site.source.text(left.func)}"
    if departure.reason in TEXTS:
        return f"text, by {departure.reason}"
    if departure.reason in FILES:
        return f"what {departure.reason} writes"
    return departure.reason


def fixes_for_departure(site: UserExpression, left: ast.AST | None, departure: Record) -> list[str]:
    span: Span = site.span
    scalar = departure.params.get("shape") == ()
    if departure.reason in TEXTS or departure.reason in FILES or _is_encoded(site, left):
        return ["use the tensor itself where the number comes back: text, bytes and files hold no gradient"]
    converts = isinstance(left, ast.Call) and getattr(left.func, "id", "") in ("float", "int", "complex", "bool")
    if isinstance(left, ast.Call) and len(left.args) == 1 and converts:
        inner = site.source.text(left.args[0])
        parent = site.source.parents.get(left)
        text = inner if isinstance(left.args[0], ast.Name | ast.Call | ast.Subscript | ast.Attribute) else f"({inner})"
        if isinstance(parent, ast.Assign | ast.Return):
            text = inner
        listed = _list_fix(site, left, inner) if scalar else None
        return [listed or source_edit(text, span)]
    if (
        isinstance(left, ast.Call)
        and isinstance(left.func, ast.Attribute)
        and f".{left.func.attr}()" == departure.reason
    ):
        owner = one_line(site.source.text(left.func.value))
        if departure.reason == ".item()" and not left.args:
            is_atom = isinstance(left.func.value, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
            owner = owner if is_atom else f"({owner})"
            return [source_edit(owner if scalar else f"{owner}.squeeze()", span)]
        return [f"{owner} itself, without {departure.reason}"]
    written = (
        None if left is None else array_written_to(left) or (left.value if isinstance(left, ast.Subscript) else None)
    )
    if written is not None:
        array = site.source.text(written)
        remade: list[str] = [*_tensor_creation_fixes(site, written), *fixes_by_import_for(site, written)]
        words = f"make {array} a tensor, gt.zeros(...), or with import gradtape.numpy as np where the tape records"
        return [*(remade or [words]), "collect the tensors in a list and gt.stack them"]
    if isinstance(left, ast.Call) and (theirs := find_foreign_call(site)) is not None:
        return [fix if scalar or not isinstance(fix, Fix) else str(fix) for fix in theirs.fixes()]
    if isinstance(left, ast.Call) and (passed := fixes_for_math_argument(site, left)):
        return [*passed]
    return [] if departure.reason == "stop_gradient" else ["compute with the tensor itself"]


def _is_encoded(site: UserExpression, left: ast.AST | None) -> bool:
    """Whether a number goes to a function that makes text or bytes of it: `json.dumps([float(x)])`."""
    around = None if left is None else site.source.parents.get(left)
    while isinstance(around, ast.expr):
        if isinstance(around, ast.Call):
            owner = root_name(around.func)
            if site.source.imports.get(owner, owner) in ("json", "struct", "marshal", "ctypes"):
                return True
        around = site.source.parents.get(around)
    return False


def _list_fix(site: UserExpression, left: ast.Call, inner: str) -> Fix | None:
    """`gt.array([x for ...])` for a `[float(x) for ...]` that is an argument of a NumPy function.

    A list of tensors would not do: NumPy would convert them. None where the number is in no such list.
    """
    held = site.source.parents.get(left)
    call = None if held is None else site.source.parents.get(held)
    if not isinstance(held, ast.ListComp | ast.List) or not isinstance(call, ast.Call) or held not in call.args:
        return None
    if isinstance(held, ast.ListComp) and held.elt is not left:
        return None
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if not site.source.is_array_module(owner) or not site.source.can_call_gradtape:
        return None
    whole = site.source.span(held)
    written = replace_span(whole, site.source.span(left), inner)
    if written is None:
        return None
    is_array = getattr(call.func, "attr", "") in ("array", "asarray", "stack") and len(call.args) == 1
    library, _ = library_of(site.source.imports)
    joined = f"{site.source.spelled('stack' if library else 'array', 'gradtape')}({written})"
    return source_edit(joined, site.source.span(call) if is_array and not call.keywords else whole)


def fixes_for_conversion(site: UserExpression) -> list[Fix]:
    """`gt.array([x, y])` for `np.array([x, y])`, `gt.zeros(3)` for the `np.zeros(3)` that a tensor was written into."""
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if isinstance(node, ast.Subscript):
        if _is_of_numpy(site, node.value):  # np.r_[x, 0.0]
            return fixes_by_import(site)
        if _structured_array(site) is not None:
            return [Fix(_FIELDS)]
        if _view_written_to(site, site.source.statement(node)) is not None:
            return fixes_by_import(site)
        remade = [*_tensor_creation_fixes(site, node.value), *fixes_by_import_for(site, node.value)]
        return remade or ([Fix(MADE_WITH_OURS)] if isinstance(node.ctx, ast.Store) else [])
    if isinstance(node, ast.Tuple):  # a, b = map(np.array, values)
        statement = site.source.statement(node)
        taken = [part for part in ast.walk(statement or node) if isinstance(part, ast.Attribute)]
        is_taken = any(_is_of_numpy(site, part) and takes_tensors(part.attr) for part in taken)
        return fixes_by_import(site) if is_taken else []
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
        return []
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    if name in ("array", "asarray", "asanyarray", "ascontiguousarray"):
        return [*_gradtape_call_fixes(site, node), *_import_fixes_of_call(site, node)]
    if name in ("full", "arange"):
        return _import_fixes_of_call(site, node)
    held = node.args[0] if node.args else None
    joined = []
    if isinstance(held, ast.ListComp | ast.List) and site.source.is_array_module(root_name(node.func)):
        whole = site.source.span(held)  # np.mean([x, y])
        written = f"{site.source.spelled('array', 'gradtape')}({one_line(whole.text)})"
        joined = [source_edit(written, whole)] if site.source.can_call_gradtape else []
    return [*joined, *_import_fixes_of_call(site, node)]


MADE_WITH_OURS = (
    "import gradtape.numpy as np, and make the array, or a copy of it (array.copy()), where the tape records"
)
_FIELDS = (
    "a dictionary of arrays, {'x': np.zeros(n), ...}, in the place of an array with fields, which holds no tensors"
)


def _structured_array(site: UserExpression) -> ast.expr | None:
    """The array with fields that the user's statement writes into: `p` in `p["x"] = value` and `p["x"][1:] = value`."""
    statement = None if site.node is None else site.source.statement(site.node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        place: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        place = statement.target
    else:
        return None
    while isinstance(place, ast.Subscript):
        place = place.value
        value = site.value(place)
        if isinstance(value, np.ndarray) and value.dtype.names:
            return place
    return None


def _import_fixes_of_call(site: UserExpression, call: ast.Call) -> list[Fix]:
    """The edit of the import of NumPy, if it is a function of NumPy's by that name that is called."""
    is_taken = _is_of_numpy(site, call.func) and takes_tensors(ast.unparse(call.func).partition(".")[2])
    return fixes_by_import(site) if is_taken else []


def _is_of_numpy(site: UserExpression, name: ast.expr) -> bool:
    return site.source.imports.get(root_name(name)) == "numpy"


_IN_PLACE: dict[type, str] = {
    ast.Add: "add({})",
    ast.Sub: "add(-{})",
    ast.Mult: "multiply({})",
    ast.Div: "multiply(1.0 / {})",
}
_AT = {
    "add": "add({})",
    "subtract": "add(-{})",
    "multiply": "multiply({})",
    "divide": "multiply(1.0 / {})",
    "maximum": "max({})",
    "minimum": "min({})",
}


_HOLDERS = (ast.Name, ast.Attribute, ast.Subscript)


def fixes_for_write(site: UserExpression) -> tuple[str, list[Fix]]:
    """The array that a statement (`a[i] += x`, `a += x`, `f(x, out=a)`) writes into, and what to write instead."""
    statement = None if site.node is None else site.source.statement(site.node)
    if isinstance(statement, ast.AugAssign | ast.Assign) and (owner := _structured_array(site)) is not None:
        return one_line(site.source.text(owner)), [Fix(_FIELDS)]
    viewed = _view_written_to(site, statement)
    if viewed is not None:  # another array in its place would leave the one that it is a view of as it was
        remade = fixes_by_import(site) or [Fix("import gradtape.numpy as np, and make the array that it is a view of")]
        return one_line(site.source.text(viewed)), remade
    argument = _argument_written_to(site, statement)
    if argument is not None:  # another array by its name would leave that of the caller as it was
        return argument.id, [Fix(MADE_WITH_OURS)]
    shared = _shared_array(site, statement)
    if shared is not None:  # another array by this name would leave that of the other name as it was
        return shared.id, [Fix(MADE_WITH_OURS)]
    if isinstance(statement, ast.AugAssign):
        target, value = statement.target, statement.value
        if isinstance(target, ast.Subscript) and not isinstance(site.value(target.value), dict | list):
            method = _IN_PLACE.get(type(statement.op))
            array = one_line(site.source.text(target.value))
            return array, [
                *_tensor_creation_fixes(site, target.value),
                *fixes_by_import_for(site, target.value),
                *_at_fixes(site, target.value, target.slice, method, value),
            ]
        array, sign = one_line(site.source.text(target)), _SIGNS.get(type(statement.op))
        text = one_line(site.source.text(value)) if sign == "+" else _parenthesise(site, value)
        return array, [source_edit(f"{array} = {array} {sign} {text}", site.source.span(statement))] if sign else []
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        place = statement.targets[0]
        if isinstance(place, ast.Subscript):  # of an array of gradtape.numpy that was made before the tape
            return one_line(site.source.text(place.value)), [
                *_tensor_creation_fixes(site, place.value),
                *_at_fixes(site, place.value, place.slice, "set({})", statement.value),
            ]
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "at" and len(call.args) == 3:
        held, index, added = call.args  # np.add.at(a, i, x)
        method = _AT.get(getattr(getattr(call.func, "value", None), "attr", ""))
        return one_line(site.source.text(held)), [
            *_tensor_creation_fixes(site, held),
            *fixes_by_import_for(site, held),
            *_at_fixes(site, held, index, method, added),
        ]
    out = next((k for k in call.keywords if k.arg == "out"), None) if isinstance(call, ast.Call) else None
    if out is None or not isinstance(call, ast.Call):
        return "", []
    array = one_line(site.source.text(out.value))
    arguments = [*call.args, *(k.value for k in call.keywords if k is not out)]
    texts = [one_line(site.source.text(argument)) for argument in call.args]
    texts += [f"{k.arg}={one_line(site.source.text(k.value))}" for k in call.keywords if k is not out]
    alone = f"{one_line(site.source.text(call.func))}({', '.join(texts)})"
    if isinstance(statement, ast.Expr) and isinstance(out.value, ast.Name) and arguments:
        return array, [source_edit(f"{array} = {alone}", site.source.span(statement))]
    held = out.value
    while isinstance(held, ast.Subscript):
        held = held.value
    remade = [*_tensor_creation_fixes(site, held), *fixes_by_import_for(site, held)]
    if held is not out.value:  # the call alone would leave the array as it was
        return array, remade or [Fix(MADE_WITH_OURS)]
    return array, [*remade, Fix(f"without out=: {alone}")]


def _place_written_to(statement: ast.stmt | None) -> ast.expr | None:
    """What a statement writes into: `a[0]` in `a[0] = x` and in `f(x, out=a[0])`; None if it writes into nothing."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0]
    if not isinstance(call, ast.Call):
        return None
    if getattr(call.func, "attr", "") == "at" and call.args:
        return call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "out"), None)


def _argument_written_to(site: UserExpression, statement: ast.stmt | None) -> ast.Name | None:
    """The array that a statement writes into, if it is an argument of the function, and its name is not bound anew."""
    place = _place_written_to(statement)
    while isinstance(place, ast.Subscript):
        place = place.value
    if not isinstance(place, ast.Name) or statement is None:
        return None
    function = next(site.source.scopes(statement), None)
    if not isinstance(function, ast.FunctionDef) or site.home(statement, place.id) is not function:
        return None
    is_argument = any(each.arg == place.id for each in (*function.args.posonlyargs, *function.args.args))
    is_bound_anew = any(
        isinstance(node, ast.Name) and node.id == place.id and isinstance(node.ctx, ast.Store)
        for node in ast.walk(function)
        if not isinstance(site.source.parents.get(node), ast.AugAssign)
    )
    return place if is_argument and not is_bound_anew else None


def _shared_array(site: UserExpression, statement: ast.stmt | None) -> ast.Name | None:
    """The array that a statement writes into, if it has another name: `u = self.u`, `u = state["u"]`, `u = v`."""
    place = _place_written_to(statement)
    while isinstance(place, ast.Subscript):
        place = place.value
    bound = site.binding(place) if isinstance(place, ast.Name) else None
    held = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    return place if isinstance(place, ast.Name) and isinstance(held, _HOLDERS) else None


def _view_written_to(site: UserExpression, statement: ast.stmt | None) -> ast.expr | None:
    """The array that a statement writes into, if it is a view of another one."""
    place = _place_written_to(statement)
    while place is not None:
        value = site.value(place)
        if isinstance(value, np.ndarray):
            return place if isinstance(value.base, np.ndarray) and isinstance(place, ast.Name | ast.Subscript) else None
        place = place.value if isinstance(place, ast.Subscript) else None
    return None


def _at_fixes(site: UserExpression, array: ast.expr, index: ast.expr, method: str | None, value: ast.expr) -> list[Fix]:
    """`a = gt.at(a)[i].add(x)` in the place of the statement that writes into `a`."""
    name = one_line(site.source.text(array))
    statement = None if site.node is None else site.source.statement(site.node)
    if method is None or statement is None:
        return []
    if isinstance(array, ast.Name) and site.home(statement, name) is not next(site.source.scopes(statement), None):
        return [Fix(f"write into a copy that the function makes, with import gradtape.numpy as np: u = {name}.copy()")]
    place = f"{site.source.spelled('at', 'gradtape')}({name})[{one_line(site.source.text(index))}]"
    text = one_line(site.source.text(value)) if "({})" in method else _parenthesise(site, value)
    needs = "" if site.source.can_call_gradtape else "  # import gradtape as gt"
    return [source_edit(f"{name} = {place}.{method.format(text)}{needs}", site.source.span(statement))]


def _parenthesise(site: UserExpression, value: ast.expr) -> str:
    """The source of an operand, in brackets if an operator before it would bind to a part of it."""
    text = one_line(site.source.text(value))
    is_single = isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
    return text if is_single else f"({text})"


_SIGNS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**", ast.FloorDiv: "//",
    ast.Mod: "%",
}  # fmt: skip


def root_name(function: ast.expr) -> str:
    """`np` for `np.linalg.norm`; empty for a function that is no attribute of anything."""
    root = function
    while isinstance(root, ast.Attribute):
        root = root.value
    return getattr(root, "id", "") if root is not function else ""


def _tensor_creation_fixes(site: UserExpression, array: ast.expr) -> list[Fix]:
    """`gt.zeros(10)` in the place of `np.zeros(10)`, where that made the array that was written into."""
    bound = site.binding(array)
    made = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute | ast.Name):
        return []
    name = made.func.attr if isinstance(made.func, ast.Attribute) else made.func.id
    made_anew = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "linspace", "arange")
    return _as_whole_statement(site, made, _gradtape_call_fixes(site, made)) if name in made_anew else []


def _as_whole_statement(site: UserExpression, made: ast.expr, offered: list[Fix]) -> list[Fix]:
    """The edits of what a name is bound to, as `name = edit` where that is all that the statement does."""
    statement = site.source.parents.get(made)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return offered
    name = one_line(site.source.text(statement.targets[0]))
    return [source_edit(f"{name} = {fix}", site.source.span(statement)) for fix in offered]


def _gradtape_call_fixes(site: UserExpression, call: ast.Call) -> list[Fix]:
    """A call of a NumPy function, with gradtape's function of the same name."""
    if not site.source.can_call_gradtape:
        return []
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    name = {"asanyarray": "asarray", "ascontiguousarray": "asarray"}.get(name, name)
    whole = site.source.span(call)
    written = replace_span(whole, site.source.span(call.func), site.source.spelled(name, "gradtape"))
    return [] if written is None or written == one_line(whole.text) else [source_edit(written, whole)]
