"""The user's source: files as syntax trees, and the exact sub-expression of a place.

A place while the program runs is a code object and an instruction offset (`gradtape.core.location`). Here, when
something has gone wrong, the file is parsed and the instruction's columns are matched with the syntax tree. Where the
source or the columns are not known everything degrades: to the line, to "argument 0", to no origin.
"""

from __future__ import annotations

import ast
import functools
import io
import linecache
import sys
import tokenize
from collections.abc import Iterator
from types import CodeType, FrameType

from gradtape.core.location import Location, is_library
from gradtape.explain.model.problem import Span
from gradtape.explain.render.spelling import library_of, name_in
from gradtape.forking import cached_property

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_ARRAY_LIBRARIES = frozenset({"numpy", "scipy", "gradtape", "autograd", "jax", "torch", "tensorflow"})


class Source:
    """A parsed file: its lines, and the syntax nodes by their position."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.lines = text.split("\n")
        try:
            self.tree: ast.Module | None = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            self.tree = None
        self.by_position: dict[tuple[int, int, int, int], ast.expr | ast.stmt] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in [] if self.tree is None else ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.expr | ast.stmt):  # walked outside in: of several at one place, the innermost
                self.by_position[position_of(node)] = node

    @cached_property
    def imports(self) -> dict[str, str]:
        """What the names stand for that import statements bind; "*" before a module whose names all are.

        >>> Source("a.py", "import numpy as xp; from gradtape import grad").imports
        {'xp': 'numpy', 'grad': 'gradtape.grad'}
        """
        found: dict[str, str] = {}
        for node in [] if self.tree is None else ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for name in node.names:
                    whole = name.name if name.asname else name.name.partition(".")[0]
                    found[name.asname or whole] = whole
            elif isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    if name.name == "*":
                        found[f"*{node.module}"] = node.module
                    else:
                        found[name.asname or name.name] = f"{node.module}.{name.name}"
        return found

    def is_array_module(self, name: str) -> bool:
        """Whether a name stands for NumPy, SciPy or gradtape, or a part of them."""
        if name in self.imports:
            return self.imports[name].partition(".")[0] in _ARRAY_LIBRARIES
        return name in ("np", "numpy", "gt", "gradtape", "xp", "scipy")

    def spelled(self, name: str, module: str = "numpy") -> str:
        """How this file would call a function of NumPy's or gradtape's: `np.exp`, `xp.exp`, or `exp`.

        >>> Source("a.py", "import numpy as xp").spelled("exp")
        'xp.exp'
        """
        library, bound = library_of(self.imports)
        if library and (found := name_in(library, name)):
            return f"{bound}.{found}"
        for known in (module, "gradtape", "numpy"):
            for bound, whole in self.imports.items():
                if whole == known:
                    return name if bound.startswith("*") else f"{bound}.{name}"
        return f"{'np' if module == 'numpy' else 'gt'}.{name}"

    def column(self, line: int, offset: int) -> int:
        """The column in characters of a byte offset."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode(errors="replace"))

    def span(self, node: ast.expr | ast.stmt | ast.arg, label: str = "") -> Span:
        """The piece of source that `node` stands for."""
        first, last = node.lineno, node.end_lineno or node.lineno
        return Span(
            self.file,
            first,
            self.column(first, node.col_offset),
            self.column(last, node.end_col_offset or 0),
            label,
            "\n".join(self.lines[first - 1 : last]),
            last,
        )

    def text(self, node: ast.expr | ast.stmt) -> str:
        """`node` exactly as it was written."""
        return self.span(node).text

    def dropped_result(self, method: str, name: ast.expr | None) -> Span | None:
        """The last statement before `name` that calls a method with it, `tape.watch(x)`, and drops what it returns."""
        if not isinstance(name, ast.Name) or self.tree is None:
            return None
        calls = [
            statement.value
            for statement in ast.walk(self.tree)
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        ]
        fitting = [
            call
            for call in calls
            if isinstance(call.func, ast.Attribute) and call.func.attr == method and call.lineno <= name.lineno
            if any(isinstance(argument, ast.Name) and argument.id == name.id for argument in call.args)
        ]
        return self.span(max(fitting, key=lambda call: call.lineno)) if fitting else None

    def find(self, location: Location) -> ast.expr | ast.stmt | None:
        """The expression or statement whose instruction `location` is."""
        line, end_line, start, end = location.positions
        if line is None or end_line is None or start is None or end is None:
            return None
        exact = self.by_position.get((line, start, end_line, end))
        if exact is not None:
            return exact
        around = [  # a call of a method on a line of its own begins at the method's name
            node
            for (first, column, last, end_column), node in self.by_position.items()
            if (last, end_column) == (end_line, end) and (first, column) <= (line, start) and isinstance(node, ast.expr)
        ]
        return around[-1] if around else None

    def at(self, span: Span) -> ast.expr | ast.stmt | None:
        """The syntax node that `span` is the source of."""
        return next((node for node in self.by_position.values() if _same_place(self.span(node), span)), None)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that `node` is part of."""
        found: ast.AST | None = node
        while found is not None and not isinstance(found, ast.stmt):
            found = self.parents.get(found)
        return found

    def function(self, name: str) -> ast.FunctionDef | None:
        """The function of the file that has this name, if there is just one."""
        every = [] if self.tree is None else ast.walk(self.tree)
        found = [node for node in every if isinstance(node, ast.FunctionDef) and node.name == name]
        return found[0] if len(found) == 1 and not isinstance(self.parents.get(found[0]), ast.ClassDef) else None

    def method(self, name: str) -> ast.FunctionDef | None:
        """The method, or property, of a class of the file that has this name, if there is just one."""
        every = [] if self.tree is None else ast.walk(self.tree)
        found = [node for node in every if isinstance(node, ast.FunctionDef) and node.name == name]
        return found[0] if len(found) == 1 and isinstance(self.parents.get(found[0]), ast.ClassDef) else None

    def scopes(self, node: ast.AST) -> Iterator[ast.AST]:
        """The functions, comprehensions and the module around `node`, the innermost first."""
        around = self.parents.get(node)
        while around is not None:
            if isinstance(around, (*SCOPES, *COMPREHENSIONS, ast.Module)):
                yield around
            around = self.parents.get(around)


def one_line(text: str) -> str:
    """An expression that was written over several lines, on one, without the comments between them.

    >>> one_line("(a  # first" + chr(10) + "    - b)")
    '(a - b)'
    """
    if "\n" not in text:
        return text
    lines = text.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline))
    except (tokenize.TokenError, SyntaxError):
        return " ".join(text.split())
    if any(token.type == tokenize.STRING and token.start[0] != token.end[0] for token in tokens):
        return text  # its line ends are part of it
    for token in tokens:
        if token.type == tokenize.COMMENT:
            line, column = token.start
            lines[line - 1] = lines[line - 1][: column - (line == 1)]
    parts = [line.strip().removesuffix("\\").rstrip() for line in lines if line.strip()]
    whole = parts[0]
    for part in parts[1:]:
        tight = whole.endswith(("(", "[", "{", ".")) or part.startswith((")", "]", "}", ".", ","))
        whole += part if tight else f" {part}"
    return whole


def position_of(node: ast.expr | ast.stmt) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


@functools.lru_cache(maxsize=32)
def _parsed(file: str, text: str) -> Source:
    return Source(file, text)


def source_of(file: str) -> Source:
    """The parsed source of `file`, which may be a notebook's cell or anything else that `linecache` knows."""
    return _parsed(file, "".join(linecache.getlines(file)))


def span_of(location: Location, label: str = "") -> Span:
    """The piece of source of a recorded place: its sub-expression, or its line where columns are not known."""
    line, end_line, start, end = location.positions
    source = source_of(location.file)
    node = source.find(location)
    if node is not None and not isinstance(node, ast.stmt):
        return source.span(node, label)
    text = source.lines[location.line - 1] if 0 < location.line <= len(source.lines) else ""
    if not text and linecache.getline(location.file, location.line):
        text = linecache.getline(location.file, location.line).rstrip("\n")
    columns = location.columns
    if columns is None or line is None or end_line != line or start is None or end is None or not text:
        return Span(location.file, location.line, None, None, label, text, location.line)
    start, end = source.column(line, start), source.column(line, end)
    return Span(location.file, location.line, start, end, label, text, location.line)


def here(label: str = "") -> Span:
    """The sub-expression of the user's that is being executed now."""
    return span_of(Location.here(), label)


def being_walked() -> Location | None:
    """The place of the operation whose gradient rule is running now, if a rule is, and it is not the user's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        if frame.f_code.co_name == "_walk" and frame.f_globals.get("__name__") == "gradtape.core.graph":
            node = frame.f_locals.get("node")
            place = getattr(node, "location", None)
            return place if isinstance(place, Location) and place.code is not None else None
        frame = frame.f_back
    return None


def raised_at(error: BaseException) -> Span | None:
    """The innermost expression of the user's that `error` passed through."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            found = Location(trace.tb_frame.f_code, trace.tb_lasti)
        trace = trace.tb_next
    return None if found is None else span_of(found)


def returned(code: CodeType | None, label: str = "") -> Span:
    """What a function returns, if it does so in one place; else the line that it is defined at."""
    if code is None:
        return Span("<unknown>", 0, label=label)
    source = source_of(code.co_filename)
    values = [
        value
        for node in ([] if source.tree is None else ast.walk(source.tree))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and _first_line(node) == code.co_firstlineno
        if getattr(node, "name", "<lambda>") == code.co_name
        for value in returned_values(node)
    ]
    if len(values) == 1:
        return source.span(values[0], label)
    text = linecache.getline(code.co_filename, code.co_firstlineno).rstrip("\n")
    return Span(code.co_filename, code.co_firstlineno, None, None, label, text, code.co_firstlineno)


def dropped_at_the_end(code: CodeType) -> Span | None:
    """What a function without any `return` computes in its last line, and drops; None if it may have been meant.

    That is an expression without an effect (`x @ self.w`), or the value of a name that nothing can read any more.
    """
    source = source_of(code.co_filename)
    for node in [] if source.tree is None else ast.walk(source.tree):
        if (
            not isinstance(node, ast.FunctionDef)
            or node.name != code.co_name
            or _first_line(node) != code.co_firstlineno
        ):
            continue
        dropped = dropped_by(node)
        return None if dropped is None else source.span(dropped[1])
    return None


def dropped_by(function: ast.FunctionDef) -> tuple[ast.stmt, ast.expr] | None:
    """The last statement of a function without any `return`, and what it computes for nobody."""
    inner = list(ast.walk(function))
    if any(isinstance(one, ast.Return | ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal) for one in inner):
        return None
    last = function.body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.BinOp | ast.UnaryOp | ast.Name | ast.Subscript):
        return last, last.value
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        called = last.value.func
        if isinstance(called, ast.Attribute) and called.attr in ("sum", "mean", "max", "min", "prod", "dot", "vdot"):
            return last, last.value
    if isinstance(last, ast.Assign) and all(isinstance(target, ast.Name) for target in last.targets):
        return last, last.value
    return None


def _first_line(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> int:
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return min([function.lineno, *(decorator.lineno for decorator in decorators)])


def returned_values(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.expr]:
    """The values that `function` itself returns, not the functions inside it."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    found: list[ast.expr] = []
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        if not isinstance(node, SCOPES):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _same_place(one: Span, other: Span) -> bool:
    return (one.line, one.column, one.end_line, one.end_column) == (
        other.line,
        other.column,
        other.end_line,
        other.end_column,
    )
