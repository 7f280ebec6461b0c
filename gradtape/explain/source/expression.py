"""The expression of the user's code that is being executed, or was recorded: its operands and their origins.

`UserExpression` finds the syntax node of a frame or location, the part of it that is each operand, and the expression
that made each operand. Where the source or the columns are not known, results are less exact: the line, "argument 0",
no origin.
"""

from __future__ import annotations

import ast
import dis
import math
from collections.abc import Callable, Iterator, Sequence
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from gradtape.core.location import Location, is_library, user_frame
from gradtape.explain.model.problem import Operand, Span
from gradtape.explain.model.record import SourceLocation
from gradtape.explain.render.spelling import edit_in
from gradtape.explain.source.files import COMPREHENSIONS, SCOPES, one_line, position_of, source_of, span_of
from gradtape.explain.source.libraries import record_of

_MODULES = {"np", "numpy", "gt", "gradtape", "scipy", "linalg", "math", "torch", "tf", "nn", "ops", "F"}
_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List, ast.Tuple, ast.Dict)
_PASSING_ON = frozenset(
    {"map", "list", "tuple", "set", "dict", "zip", "filter", "sorted", "print", "next", "iter", "any", "all"}
)
_OF_DISTRIBUTIONS = frozenset(
    {"log_prob", "prob", "cdf", "log_cdf", "icdf", "pdf", "logpdf", "pmf", "logpmf", "survival_function"}
)
_JOINING = frozenset({"concatenate", "concat", "stack", "hstack", "vstack", "dstack", "column_stack", "block"})
_OPERATOR_INSTRUCTIONS = ("BINARY_OP", "COMPARE_OP", "UNARY_")
_SHORT_NAMES = {"power": "pow", "divide": "true_divide", "subtract": "sub", "multiply": "mul", "add": "add"}
_OTHER_NAMES = {
    "clip": ("clamp", "clamp_min", "clamp_max", "clip_by_value"),
    "norm": ("vector_norm",),
    "maximum": ("max",),
    "minimum": ("min",),
    "equal": ("eq",),
    "not_equal": ("ne",),
}
CALLERS_FOLLOWED = 3
EXPRESSIONS_FOLLOWED = 40


class UserExpression:
    """An expression of the user's code: its frame (None if that has ended), its syntax node, and its operands."""

    def __init__(self, frame: FrameType | None, offset: int | None = None) -> None:
        """The expression that `frame` is executing; with `offset`, the one where an error passed through it."""
        self.frame = frame
        place = (None, 0) if frame is None else (frame.f_code, frame.f_lasti if offset is None else offset)
        self.location: SourceLocation = Location(*place)
        self.source = source_of(self.location.file)
        self.node = self.source.find(self.location)

    @classmethod
    def present(cls) -> UserExpression:
        """The innermost expression of the user's code that is being executed now."""
        return cls(user_frame(2))

    @property
    def span(self) -> Span:
        """The range of source of the expression."""
        return span_of(self.location)

    def operands(self, inputs: Sequence[Any]) -> list[Operand]:
        """The operands of the operation, each with its name, its range in the expression and its origin."""
        parts = self.parts(inputs)
        return [self._operand(x, part, index, len(inputs)) for index, (x, part) in enumerate(zip(inputs, parts))]

    def _operand(self, x: Any, part: ast.expr | None, index: int, count: int) -> Operand:
        names = ("the left operand", "the right operand") if count == 2 else ()
        name = names[index] if names else ("the operand" if count == 1 else f"operand {index}")
        if part is None and (sequence := self._sequence()):
            name = f"{sequence}[{index}]"
        span = None
        if part is not None:
            span = self.source.span(part)
            name = one_line(span.text)
            if len(name) > 40:
                name = name[:37] + "..."
        shape, dtype = shape_and_dtype(x)
        users = getattr(self.value(part), "shape", None) if part is not None else None
        if shape is not None and isinstance(users, tuple) and math.prod(users) == math.prod(shape):
            shape = tuple(users)  # a vector that became a column on the way
        return Operand(name, shape, dtype, self.origin(x, part), span)

    def arrays(self) -> list[Operand]:
        """The operands of the expression that are arrays, as far as their values can be read from the frame."""
        found = []
        for part in self._candidates(0):
            value = self.value(part)
            if value is not _UNKNOWN and not isinstance(part, ast.Constant) and hasattr(value, "shape"):
                found.append(self._operand(value, part, 0, 1))
        return sorted(found, key=lambda o: (o.span.line, o.span.column or 0) if o.span is not None else (0, 0))

    # -- the part of the expression that is each input

    def parts(self, inputs: Sequence[Any]) -> list[ast.expr | None]:
        """For each input, the part of the expression that evaluates to it; None where that is not known."""
        candidates = self._candidates(len(inputs))
        taken: list[ast.expr | None] = []
        for index, x in enumerate(inputs):
            same = [part for part in candidates if part not in taken and self._is(part, x)]
            guess = candidates[index] if index < len(candidates) else None
            if same and (guess is None or guess not in same):
                guess = same[0]
            elif guess is not None and (guess in taken or self._contradicts(guess, x)):
                guess = None
            taken.append(guess)
        return taken

    def _candidates(self, count: int) -> list[ast.expr]:
        node = self.node
        if isinstance(node, ast.Expr):
            node = node.value
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.AugAssign):
            return [node.target, node.value]
        if isinstance(node, ast.Compare):
            return [node.left, *node.comparators]
        if isinstance(node, ast.UnaryOp):
            return [node.operand]
        if isinstance(node, ast.Subscript):
            assigned = self._assigned(node)
            return [node.value, node.slice if assigned is None else assigned]
        if isinstance(node, ast.Attribute):
            return [node.value]
        if isinstance(node, ast.Call):
            return self._arguments(node, count)
        return [node] if isinstance(node, ast.Name) else []

    def _assigned(self, target: ast.Subscript) -> ast.expr | None:
        """What is assigned to a target: `x` in `a[0] = x`, and in `a[0], b = x, y`; None if nothing is."""
        statement = self.source.statement(target)
        if not isinstance(statement, ast.Assign):
            return None
        for whole in statement.targets:
            if whole is target:
                return statement.value
            if isinstance(whole, ast.Tuple | ast.List) and target in whole.elts:
                given = statement.value
                if isinstance(given, ast.Tuple | ast.List) and len(given.elts) == len(whole.elts):
                    return given.elts[whole.elts.index(target)]
                return given
        return None

    def _arguments(self, call: ast.Call, count: int) -> list[ast.expr]:
        """The object of a method call and the arguments; a list or tuple of arrays is replaced by its elements."""
        found: list[ast.expr] = []
        if isinstance(call.func, ast.Name) and call.func.id in _PASSING_ON:
            return []
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                break
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                continue
            found.append(argument)
        found += [keyword.value for keyword in call.keywords if keyword.arg is not None]
        if isinstance(call.func, ast.Attribute) and not self._is_not_operand(call.func.value):
            found.insert(0, call.func.value)
        first = found[0] if found else None
        if isinstance(first, ast.List | ast.Tuple) and count > 1 and len(first.elts) == count:
            return list(first.elts)
        if count > 1 and _name_of(call.func) in _JOINING:
            return []
        return found

    def _sequence(self) -> str:
        """The name of the list whose elements this call joins (`np.stack(rows)`), if it has a name."""
        call = self.node.value if isinstance(self.node, ast.Expr) else self.node
        if isinstance(call, ast.Call) and _name_of(call.func) in _JOINING and call.args:
            return self.source.text(call.args[0]) if isinstance(call.args[0], ast.Name | ast.Attribute) else ""
        return ""

    def is_module(self, node: ast.expr) -> bool:
        """Whether an expression is a module, by its value, or by its name where the value is not known."""
        value = self.value(node)
        if value is not _UNKNOWN:
            return isinstance(value, ModuleType)
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and (node.id in _MODULES or self.source.is_array_module(node.id))

    def _is_not_operand(self, owner: ast.expr) -> bool:
        """Whether what a method belongs to is a module, or an object that is no array: `self.loss(x, y)`."""
        value = self.value(owner)
        held = None if value is _UNKNOWN else getattr(value, "__dict__", None)
        return self.is_module(owner) or (isinstance(held, dict) and "_modules" in held)

    def value(self, node: ast.AST) -> Any:
        """The value of a name, attribute or item in the frame, read without executing any code; or `_UNKNOWN`."""
        if isinstance(node, ast.Constant):
            return node.value
        if self.frame is None:
            return _UNKNOWN
        if isinstance(node, ast.Name):
            for names in (self.frame.f_locals, self.frame.f_globals):
                if node.id in names:
                    return names[node.id]
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            held = getattr(owner, "__dict__", None) if owner is not _UNKNOWN else None
            if isinstance(held, dict):
                return _attribute_in(held, node.attr)
        if isinstance(node, ast.Subscript):
            owner, key = self.value(node.value), self.value(node.slice)
            if type(owner) in (list, tuple, dict) and type(key) in (int, str):
                try:
                    return owner[key]
                except (LookupError, TypeError):
                    return _UNKNOWN
        return _UNKNOWN

    def _is(self, part: ast.expr, x: Any) -> bool:
        value = self.value(part)
        return value is not _UNKNOWN and (value is x or (getattr(value, "_array", _UNKNOWN) is x))

    def _contradicts(self, part: ast.expr, x: Any) -> bool:
        """Whether `part` certainly does not evaluate to `x`."""
        value = self.value(part)
        if value is _UNKNOWN:
            return isinstance(part, ast.Constant | ast.JoinedStr) and hasattr(x, "shape") and x.shape != ()
        one, other = shape_and_dtype(value)[0], shape_and_dtype(x)[0]
        if one is None or other is None:
            return one is not other
        return [n for n in one if n != 1] != [n for n in other if n != 1]  # a vector may have become a column

    # -- the origin of a value

    def origin(self, x: Any, part: ast.expr | None) -> Span | None:
        """The expression that made `x`: the one recorded in the graph, else the last binding of its name."""
        recorded = recorded_origin(x)
        if recorded is not None:
            mine = self.span
            same_line = (recorded.file, recorded.line) == (mine.file, mine.line)
            if not same_line or (
                part is not None and recorded.text != self.source.text(part) and _inside(recorded, mine)
            ):
                return recorded
            return None
        if part is None:
            return None
        return self.binding(part)

    def binding(self, part: ast.expr, depth: int = 0) -> Span | None:
        """The last binding of the name in `part` before this expression, as far as the source shows."""
        if isinstance(part, ast.Attribute):
            return self._attribute_binding(part)
        if not isinstance(part, ast.Name) or self.node is None:
            return None
        for scope in self.source.scopes(self.node):
            if isinstance(scope, ast.ClassDef):
                continue
            argument = _argument(scope, part.id)
            found = self._last(scope, part.id)
            if found is not None:
                return found
            if argument is not None:
                return self._passed(argument, scope, depth) or self.source.span(
                    argument, f"argument of {getattr(scope, 'name', 'lambda')}"
                )
        return None

    def home(self, node: ast.AST, name: str) -> ast.AST | None:
        """The function or module whose variable `name` is, as seen from `node`; None if nothing binds it."""
        for scope in self.source.scopes(node):
            is_bound = _argument(scope, name) is not None or next(self._bindings(scope, name), None) is not None
            if is_bound and not isinstance(scope, ast.ClassDef):
                return scope
        return None

    def _last(self, scope: ast.AST, name: str) -> Span | None:
        """The last binding of `name` in `scope` before this expression, or after it (a loop) if there is none."""
        assert self.node is not None
        mine = self.source.statement(self.node)
        position = position_of(self.node)[:2]
        bound = [(node.lineno, node.col_offset, span) for node, span in self._bindings(scope, name) if node is not mine]
        before = [row for row in bound if row[:2] < position]
        inside = scope is next(self.source.scopes(self.node), None)
        chosen = before if before and inside else bound
        return max(chosen, key=lambda row: row[:2])[2] if chosen else None

    def _bindings(self, scope: ast.AST, name: str) -> Iterator[tuple[Any, Span]]:
        """The statements of `scope` (not of functions inside) that bind `name`, and the expression they bind it to."""
        if isinstance(scope, COMPREHENSIONS):
            for generator in scope.generators:
                if _binds(generator.target, name):
                    yield generator.iter, self.source.span(generator.iter, f"an element of {_short(generator.iter)}")
            return
        pending = list(ast.iter_child_nodes(scope))
        while pending:
            node = pending.pop()
            if isinstance(node, (*SCOPES, *COMPREHENSIONS)):
                continue
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    value = _bound_value(target, node.value, name)
                    if value is not None:
                        yield node, self.source.span(value)
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
                if _binds(node.target, name) and node.value is not None:
                    yield node, self.source.span(node.value)
            elif isinstance(node, ast.AugAssign):
                if _binds(node.target, name):
                    yield node, self.source.span(node)
            elif isinstance(node, ast.For | ast.AsyncFor):
                if _binds(node.target, name):
                    yield node, self.source.span(node.iter, f"an element of {_short(node.iter)}")
            elif isinstance(node, ast.With | ast.AsyncWith):
                for item in node.items:
                    if item.optional_vars is not None and _binds(item.optional_vars, name):
                        yield node, self.source.span(item.context_expr)
            pending.extend(ast.iter_child_nodes(node))

    def _passed(self, argument: ast.arg, scope: ast.AST, depth: int) -> Span | None:
        """The expression that the caller passed for `argument`, if the caller is the user's own code."""
        frame = self.frame
        if frame is None or depth >= CALLERS_FOLLOWED or frame.f_code.co_name != getattr(scope, "name", "<lambda>"):
            return None
        above = frame.f_back
        if above is None or is_library(above.f_code.co_filename):
            return None
        caller = UserExpression(above)
        call = caller.node.value if isinstance(caller.node, ast.Expr) else caller.node
        if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount]
        passed: ast.expr | None = next((k.value for k in call.keywords if k.arg == argument.arg), None)
        if passed is None and argument.arg in names:
            index = names.index(argument.arg)
            if names[0] in ("self", "cls"):  # a method, or `__call__`
                index -= 1
            passed = call.args[index] if 0 <= index < len(call.args) else None
        if passed is None:
            return None
        return caller.binding(passed, depth + 1) or caller.source.span(passed)

    def _attribute_binding(self, part: ast.Attribute) -> Span | None:
        """Where `self.name` was last assigned in the file."""
        if self.source.tree is None:
            return None
        wanted = self.source.text(part)
        found = [
            value
            for node in ast.walk(self.source.tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Attribute) and self.source.text(target) == wanted
            for value in [node.value]
        ]
        return self.source.span(found[-1]) if found else None

    def asked(self) -> tuple[ast.expr | None, ast.expr | None]:
        """The target and the first source in a call of gradient, backward or why; None for those that are not found."""
        call = self.node.value if isinstance(self.node, ast.Expr) else self.node
        if not isinstance(call, ast.Call):
            return None, None
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            return owner, None
        target = call.args[0] if call.args else named.get("target")
        if isinstance(call.func, ast.Attribute) and call.func.attr == "why" and len(call.args) + len(call.keywords) < 2:
            return target, owner
        source = call.args[1] if len(call.args) > 1 else named.get("sources", named.get("source"))
        while isinstance(source, ast.List | ast.Tuple) and source.elts:
            source = source.elts[0]
        return target, source

    def use(self, part: ast.expr, wanted: Callable[[Any], bool]) -> tuple[Span, str] | None:
        """The expression, among those that `part` was computed from, that reads a `wanted` value, and its name there.

        Names are followed to their bindings in the same file.
        """
        pending: list[ast.expr] = [part]
        seen: set[ast.expr] = set()
        while pending and len(seen) < EXPRESSIONS_FOLLOWED:
            expression = pending.pop(0)
            if expression in seen:
                continue
            seen.add(expression)
            for node in ast.walk(expression):
                if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
                    continue
                if node is not part and wanted(self.value(node)):
                    parent = self.source.parents.get(node)
                    around = parent if isinstance(parent, ast.expr) else node
                    return self.source.span(around), self.source.text(node)
                bound = self.binding(node, CALLERS_FOLLOWED) if isinstance(node, ast.Name) else None
                value = None if bound is None or bound.file != self.source.file else self.source.at(bound)
                if isinstance(value, ast.expr):
                    pending.append(value)
        return None

    # -- edits

    def rewritten(self, edits: dict[int, str], parts: Sequence[ast.expr | None], swap: bool = False) -> str | None:
        """The expression with `edits` (by the index of an operand: a suffix such as ".T") applied."""
        if self.node is None or isinstance(self.node, ast.stmt):
            return None
        whole = self.source.span(self.node)
        pieces: list[tuple[int, int, str]] = []
        for index, part in enumerate(parts):
            origin = parts[1 - index] if swap else part
            if part is None or origin is None:
                if swap or index in edits:
                    return None
                continue
            if not swap and index not in edits:
                continue
            if self._is_distribution(part):
                return None
            text = self.source.text(origin)
            if not isinstance(origin, _ATOMS):
                text = f"({text})"
            edit = edit_in(edits.get(index, ""), self.source.imports)
            pieces.append((*self.region(part, whole), edit.format(text) if "{}" in edit else text + edit))
        text = whole.text
        for start, end, replacement in sorted(pieces, reverse=True):
            text = text[:start] + replacement + text[end:]
        return one_line(text)

    def _is_distribution(self, part: ast.expr) -> bool:
        """Whether a part is the object of a method that distributions have, and arrays have not."""
        method = self.source.parents.get(part)
        return isinstance(method, ast.Attribute) and method.attr in _OF_DISTRIBUTIONS

    def region(self, part: ast.expr, whole: Span) -> tuple[int, int]:
        """The offsets of `part` in the text of the expression, including parentheses of its own."""
        start, end = offsets(whole, self.source.span(part))
        text = whole.text
        before, after = text[:start].rstrip(), text[end:].lstrip()
        parent = self.source.parents.get(part)
        is_only_argument = isinstance(parent, ast.Call) and part in parent.args
        if before.endswith("(") and after.startswith(")") and not is_only_argument:
            return len(before) - 1, len(text) - len(after) + 1
        return start, end


def site_at(location: SourceLocation) -> UserExpression:
    """The expression at a recorded location, whose frame has ended."""
    site = UserExpression(None)
    site.location = location
    site.source = source_of(location.file)
    site.node = site.source.find(location)
    return site


def is_written(site: UserExpression, name: str) -> bool:
    """Whether the user's code has the operation `name` here, and not a library function or rule that it calls."""
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if site.location.in_rule:
        return False
    if node is None and site.location.code is not None:  # code without source: `exec` of a text
        return dis.opname[site.location.code.co_code[site.location.offset]].startswith(_OPERATOR_INSTRUCTIONS)
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return called in (name, _SHORT_NAMES.get(name)) or called in _OTHER_NAMES.get(name, ())
    return isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare | ast.UnaryOp)


def is_call_of(site: UserExpression, *names: str) -> bool:
    """Whether the user's expression is the call of a function that has one of these names."""
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    function = node.func if isinstance(node, ast.Call) else None
    return function is not None and getattr(function, "attr", getattr(function, "id", "")) in names


def _attribute_in(held: dict[str, Any], name: str) -> Any:
    """An attribute in the dictionary of an object, or in those that a layer of PyTorch keeps its parts in."""
    if name in held:
        return held[name]
    for part in ("_parameters", "_buffers", "_modules"):
        inside = held.get(part)
        if isinstance(inside, dict) and name in inside:
            return inside[name]
    return _UNKNOWN


class _Unknown:
    """The value of an expression that cannot be evaluated without executing code."""


_UNKNOWN: Any = _Unknown()


def recorded_origin(x: Any) -> Span | None:
    """The expression that made a tensor, if the graph recorded it."""
    record = record_of(x)
    if record is None or not record.location.is_known:
        return None
    if not record.operation and not record.is_tracked and not record.is_cut:
        return None  # the record that all untracked tensors share
    return span_of(record.location)


def shape_and_dtype(x: Any) -> tuple[tuple[int, ...] | None, str]:
    """Shape and dtype of an array or number; None and the name of the type for anything else."""
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        dtype = x.dtype if isinstance(x.dtype, np.dtype) else getattr(x.dtype, "name", x.dtype)
        if getattr(x.shape, "rank", 0) is None:
            return None, str(dtype)
        shape = tuple(x.shape)
        record = record_of(x) if None in shape else None  # a tensor of a graph, some of whose lengths are unknown
        return shape if record is None or record.is_shared else record.shape, str(dtype)
    if isinstance(x, bool | int | float | complex):
        return (), type(x).__name__
    if isinstance(x, list | tuple):
        try:
            array = np.asarray(x)
        except Exception:  # what a list has in it decides: PyTorch's tensors that require gradients refuse
            return None, type(x).__name__
        return array.shape, str(array.dtype)
    return None, type(x).__name__


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _binds(target: ast.AST, name: str) -> bool:
    if isinstance(target, ast.Name):
        return target.id == name
    if isinstance(target, ast.Tuple | ast.List):
        return any(_binds(part, name) for part in target.elts)
    return isinstance(target, ast.Starred) and _binds(target.value, name)


def _bound_value(target: ast.expr, value: ast.expr, name: str) -> ast.expr | None:
    """The expression that an assignment binds `name` to: an element if both sides are tuples, else all of it."""
    sequences = ast.Tuple | ast.List
    if isinstance(target, sequences) and isinstance(value, sequences) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts)
        return next((given for part, given in pairs if _binds(part, name)), None)
    return value if _binds(target, name) else None


def _argument(scope: ast.AST, name: str) -> ast.arg | None:
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return None
    given = scope.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return next((argument for argument in every if argument.arg == name), None)


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 30 else text[:27] + "..."


def _inside(inner: Span, outer: Span) -> bool:
    if inner.column is None or outer.column is None:
        return False
    return (inner.file, inner.line, inner.column) >= (outer.file, outer.line, outer.column)


def replace_span(whole: Span, part: Span, text: str) -> str | None:
    """The text of `whole` with `text` in the place of `part`, on one line."""
    if whole.column is None or part.column is None or part.end_column is None:
        return None
    if not whole.line <= part.line <= (part.end_line or part.line) <= (whole.end_line or whole.line):
        return None
    start, end = offsets(whole, part)
    return one_line(whole.text[:start] + text + whole.text[end:])


def offsets(whole: Span, part: Span) -> tuple[int, int]:
    """First and one-past-last offset of `part` in the text of `whole`."""
    lines = whole.source.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    base = whole.column or 0
    start = starts[part.line - whole.line] + (part.column or 0) - base
    end = starts[(part.end_line or part.line) - whole.line] + (part.end_column or 0) - base
    return start, end
