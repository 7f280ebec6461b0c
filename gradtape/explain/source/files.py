"""Source files as syntax trees, and the exact sub-expression of a `Location`.

While the program runs, a location is a code object and an instruction offset (`gradtape.core.location`). When a problem
is reported, the file is parsed and the columns of the instruction are matched with the syntax tree. Where the source or
the columns are not known, results are less exact: the line, "argument 0", no origin.
"""

from __future__ import annotations

import ast
import functools
import io
import linecache
import sys
import tokenize
from collections.abc import Iterator
from types import CodeType

from gradtape.core.location import Location, is_own_module
from gradtape.explain.model.problem import Span
from gradtape.explain.model.record import SourceLocation
from gradtape.explain.render.spelling import library_of, written_in
from gradtape.forking import cached_property

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_ARRAY_LIBRARIES = frozenset({"numpy", "scipy", "autograd", "jax", "torch", "tensorflow"})


class SourceFile:
    """A parsed file: its lines, and its syntax nodes by position."""

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
            if isinstance(node, ast.expr | ast.stmt):  # outer nodes come first: the innermost stays
                place = position_of(node)
                if not isinstance(self.by_position.get(place), ast.JoinedStr):  # its parts have the place of the whole
                    self.by_position[place] = node

    @cached_property
    def imports(self) -> dict[str, str]:
        """The full name of each name that import statements bind; "*module" for `from module import *`.

        >>> SourceFile("a.py", "import numpy as xp; from gradtape import grad").imports
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
        """Whether a name is bound to an array library (NumPy, SciPy, gradtape, ...) or a part of one."""
        if name in self.imports:
            module = self.imports[name]
            return module.partition(".")[0] in _ARRAY_LIBRARIES or is_own_module(module)
        return name in ("np", "numpy", "gt", "gradtape", "xp", "scipy")

    def spelled(self, name: str, module: str = "numpy") -> str:
        """How this file would write a function of NumPy or gradtape: `np.exp`, `xp.exp`, or `exp`.

        >>> SourceFile("a.py", "import numpy as xp").spelled("exp")
        'xp.exp'
        """
        library, bound = library_of(self.imports)
        if library and (written := written_in(library, bound, name)):
            return written
        for known in ("numpy", "gradtape.numpy", "gradtape") if module == "numpy" else (module,):
            for bound, whole in self.imports.items():
                if whole == known:
                    return name if bound.startswith("*") else f"{bound}.{name}"
        return f"{'np' if module == 'numpy' else 'gt'}.{name}"

    @property
    def can_call_gradtape(self) -> bool:
        """Whether this file has a name for gradtape, or for a library that stands for it, as an edit needs it.

        >>> SourceFile("a.py", "import gradtape as gt").can_call_gradtape
        True
        >>> SourceFile("a.py", "import numpy as np").can_call_gradtape
        False
        """
        return "gradtape" in self.imports.values() or bool(library_of(self.imports)[0])

    def column(self, line: int, offset: int) -> int:
        """The column in characters of a byte offset."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode(errors="replace"))

    def span(self, node: ast.expr | ast.stmt | ast.arg, label: str = "") -> Span:
        """The range of source of `node`."""
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
        """The source text of `node`."""
        return self.span(node).text

    def dropped_result(self, method: str, name: ast.expr | None) -> Span | None:
        """The last statement before `name` that calls a method with it and ignores the result: `tape.watch(x)`."""
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

    def find(self, location: SourceLocation) -> ast.expr | ast.stmt | None:
        """The expression or statement that the instruction at `location` belongs to."""
        line, end_line, start, end = location.positions
        if line is None or end_line is None or start is None or end is None:
            return None
        exact = self.by_position.get((line, start, end_line, end))
        if exact is not None:
            return exact
        around = [  # the instruction of a method call that is split over lines begins at the method's name
            node
            for (first, column, last, end_column), node in self.by_position.items()
            if (last, end_column) == (end_line, end) and (first, column) <= (line, start) and isinstance(node, ast.expr)
        ]
        return around[-1] if around else None

    def at(self, span: Span) -> ast.expr | ast.stmt | None:
        """The syntax node at `span`."""
        return next((node for node in self.by_position.values() if _same_place(self.span(node), span)), None)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that `node` is part of."""
        found: ast.AST | None = node
        while found is not None and not isinstance(found, ast.stmt):
            found = self.parents.get(found)
        return found

    def function(self, name: str) -> ast.FunctionDef | None:
        """The function of this name in the file, if there is exactly one."""
        every = [] if self.tree is None else ast.walk(self.tree)
        found = [node for node in every if isinstance(node, ast.FunctionDef) and node.name == name]
        return found[0] if len(found) == 1 and not isinstance(self.parents.get(found[0]), ast.ClassDef) else None

    def method(self, name: str) -> ast.FunctionDef | None:
        """The method or property of this name in a class of the file, if there is exactly one."""
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
    """An expression that is written over several lines, joined to one line, without the comments between them.

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
        return text  # line ends inside a string are part of it
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
    """First line, first column, last line and end column of a syntax node."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


@functools.lru_cache(maxsize=32)
def _parse(file: str, text: str) -> SourceFile:
    return SourceFile(file, text)


def source_of(file: str) -> SourceFile:
    """The parsed source of `file`, which may be a notebook cell or any other name that `linecache` knows."""
    return _parse(file, "".join(linecache.getlines(file)))


def uses_own_numpy(file: str) -> bool:
    """Whether a file uses `gradtape.numpy` or `gradtape.scipy` for NumPy and SciPy: by an import, or as a stand-in."""
    own = sys.modules.get("gradtape.numpy")
    if own is None:
        return False
    if any(whole.startswith(("gradtape.numpy", "gradtape.scipy")) for whole in source_of(file).imports.values()):
        return True
    modules = [module for module in [*sys.modules.values()] if getattr(module, "__file__", None) == file]
    return any(value is own for module in modules for value in [*vars(module).values()])


def span_of(location: SourceLocation, label: str = "") -> Span:
    """The range of source of a recorded location: its sub-expression, or its line where columns are not known."""
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
    """The sub-expression of the user's code that is being executed now."""
    return span_of(Location.here(), label)


def returned_span(code: CodeType | None, label: str = "") -> Span:
    """The expression that a function returns, if it has one `return`; else the line of its definition."""
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


def find_unreturned_result(code: CodeType) -> Span | None:
    """The result that the last line of a function without `return` computes and loses; None if that may be intended.

    It is an expression without an effect (`x @ self.w`), or the value of a local name that is not read afterwards.
    """
    source = source_of(code.co_filename)
    for node in [] if source.tree is None else ast.walk(source.tree):
        if (
            not isinstance(node, ast.FunctionDef)
            or node.name != code.co_name
            or _first_line(node) != code.co_firstlineno
        ):
            continue
        dropped = unreturned_result(node)
        return None if dropped is None else source.span(dropped[1])
    return None


def unreturned_result(function: ast.FunctionDef) -> tuple[ast.stmt, ast.expr] | None:
    """The last statement of a function without `return`, and the expression in it whose value is lost."""
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
    """The expressions that `function` itself returns, without those of functions inside it."""
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
