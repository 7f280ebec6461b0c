"""The user's own lines behind the code that `tf.function` generates from a function.

AutoGraph writes a copy of each function to a file of its own, in which `f(x)` is
`ag__.converted_call(ag__.ld(f), (ag__.ld(x),), None, fscope)`. A place in such a file becomes the same expression in
the file of the user: the line is known from AutoGraph's own map, the expression is found by its structure.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

from gradtape.core.location import generated_files

_registered: list[str] = []
Place = tuple[int | None, int | None, int | None, int | None]


def wrap_loader(original: Any) -> Any:
    """`loader.load_ast`, which also notes where the code that it loads comes from."""

    def load_ast(*arguments: Any, **options: Any) -> Any:
        loaded = original(*arguments, **options)
        module, source, lines = loaded
        if lines is not None:
            register(module.__file__, source, lines)
        return loaded

    return load_ast


def register(file: str, source: str, lines: Mapping[Any, Any]) -> None:
    """Remember the file that AutoGraph has written, and its map to the user's lines."""
    origins = {place.lineno: (origin.loc.filename, origin.loc.lineno) for place, origin in lines.items()}
    generated_files[file] = functools.lru_cache(maxsize=None)(_translator(source, origins))
    _registered.append(file)


def forget() -> None:
    """Forget all generated files."""
    for file in _registered:
        generated_files.pop(file, None)
    _registered.clear()


def _translator(
    source: str, origins: Mapping[int, tuple[str, int]]
) -> Callable[[CodeType, int], tuple[CodeType | None, int]]:
    nodes: dict[Place, ast.AST] = {}

    def translate(code: CodeType, offset: int) -> tuple[CodeType | None, int]:
        if not nodes:
            nodes.update({_place(node): node for node in ast.walk(ast.parse(source)) if hasattr(node, "lineno")})
        place = list(code.co_positions())[offset // 2]
        line = place[0] or code.co_firstlineno
        near = min(origins, key=lambda known: (abs(known - line), known > line), default=None)
        if near is None:
            return None, 0
        file, wanted = origins[near]
        places, tree = _read(file)
        node = nodes.get(place)
        found = None if node is None or tree is None else _find(tree, node, wanted)
        if found is not None and _place(found) in places:
            return places[_place(found)]
        on_line = [(where, spot) for where, spot in places.items() if where[0] == wanted and where[2] is not None]
        if not on_line:
            return None, 0
        return max(on_line, key=lambda pair: (pair[0][3] or 0) - (pair[0][2] or 0))[1]

    return translate


def _place(node: Any) -> Place:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


@functools.lru_cache(maxsize=64)
def _read(file: str) -> tuple[dict[Place, tuple[CodeType, int]], ast.AST | None]:
    """Where each expression of a file is computed: the code object and the instruction; and the syntax tree."""
    text = "".join(linecache.getlines(file))
    try:
        whole, tree = compile(text, file, "exec"), ast.parse(text)
    except (SyntaxError, ValueError):
        return {}, None
    places: dict[Place, tuple[CodeType, int]] = {}
    pending = [whole]
    while pending:
        code = pending.pop()
        for index, place in enumerate(code.co_positions()):
            places[place] = code, 2 * index
        pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return places, tree


def _find(tree: ast.AST, generated: ast.AST, line: int) -> Any:
    """The expression of the user with the structure of a generated one, near `line`."""
    wanted = ast.dump(_Restore().visit(_copy(generated)))
    nodes: list[Any] = list(ast.walk(tree))
    same = [
        node
        for node in nodes
        if type(node) in (ast.BinOp, ast.Call, ast.Subscript, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Name)
        and abs(node.lineno - line) <= 12
        and ast.dump(node) == wanted
    ]
    return min(same, key=lambda node: abs(node.lineno - line), default=None)


def _copy(node: ast.AST) -> Any:
    return ast.parse(ast.unparse(node), mode="eval").body if isinstance(node, ast.expr) else node


class _Restore(ast.NodeTransformer):
    """The expression that AutoGraph has converted."""

    def visit_Call(self, node: ast.Call) -> Any:
        """`ag__.ld(x)` is x, `ag__.converted_call(f, (x,), dict(y=1), fscope)` is f(x, y=1)."""
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or getattr(function.value, "id", "") != "ag__":
            return node
        if function.attr == "ld" and len(node.args) == 1:
            return node.args[0]
        if function.attr != "converted_call" or len(node.args) < 3 or not isinstance(node.args[1], ast.Tuple):
            return node
        options = node.args[2]
        keywords = options.keywords if isinstance(options, ast.Call) else []
        return ast.Call(node.args[0], node.args[1].elts, keywords)


__all__ = ["forget", "register", "wrap_loader"]
