"""Whether an expression of the user is computed from a value that left the tape, as far as the source shows.

The value is followed through operators, names, attributes, functions of the same file, functions that compute with
numbers, text and bytes, and through files: what `np.load(path)` reads is what `np.save(path, x)` wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from gradtape.explain.detectors.departure_fixes import array_written_to, exit_expression, root_name
from gradtape.explain.model.record import Record
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import returned_values, source_of

NAMES_FOLLOWED = 6
_TRANSPARENT_FUNCTIONS = frozenset(
    {"float", "int", "abs", "max", "min", "sum", "round", "pow", "complex", "array", "asarray", "list", "tuple"}
    | {"str", "repr", "format", "eval", "bytes", "bytearray", "memoryview", "fromhex", "frombuffer", "map"}
)
_TRANSPARENT_MODULES = frozenset(
    {"ast", "array", "cmath", "copy", "ctypes", "decimal", "fractions", "json", "marshal", "math", "operator", "pickle"}
    | {"statistics", "struct"}
)
_TRANSPARENT_METHODS = frozenset(
    {"sum", "mean", "prod", "std", "var", "max", "min", "dot", "copy", "reshape", "ravel", "astype", "conjugate"}
    | {"hex", "strip", "lstrip", "rstrip", "split", "splitlines", "replace", "removeprefix", "removesuffix"}
    | {"encode", "decode", "tobytes", "tolist"}
)
_METHODS_OF_ARGUMENTS = frozenset(["format", "join"])  # of text
_TRANSPARENT_ATTRIBUTES = frozenset(["T", "real", "imag", "value", "flat"])
_FILE_WRITERS = frozenset(["save", "savetxt", "savez", "savez_compressed", "tofile", "dump"])
_WRITE_METHODS = frozenset(["write", "write_text", "write_bytes", "writelines", "writerow"])
_FILE_READERS = frozenset(
    {"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "open", "read", "read_text", "read_bytes", "readline"}
    | {"readlines", "getvalue", "getbuffer"}
)


def reads_departure(site: UserExpression, expression: ast.AST, departure: Record) -> bool:
    """Whether an expression of the user is computed from the value that left at `departure`, as far as names show."""
    return reads(site, expression, exit_expression(departure), NAMES_FOLLOWED)


def reads(
    site: UserExpression, expression: ast.AST, leaving: tuple[UserExpression, ast.AST | None], names: int
) -> bool:
    """Whether `expression` is computed from the value of `leaving`, as far as operators and names show."""
    elsewhere, left = leaving
    if left is None or elsewhere.source.file != site.source.file:
        return False
    written = array_written_to(left)
    if expression is left or (written is not None and _is_same_array(site, expression, written, names)):
        return True
    parts = _parts(expression)
    if parts is not None:
        return any(reads(site, part, leaving, names) for part in parts)
    if isinstance(expression, ast.Attribute):
        return _attribute_reads(site, expression, leaving, names)
    if isinstance(expression, ast.Call):
        return _call_reads(site, expression, leaving, names)
    if isinstance(expression, ast.Name) and names:
        if _is_appended(site, expression, left):
            return True
        bound = site.binding(expression)
        if bound is None or bound.label:
            passed = _passed_arguments(site, expression)
            reading = [reads(_in_same_file(site, value), value, leaving, names - 1) for value in passed]
            return bool(reading) and all(reading)
        if bound.file != site.source.file:
            return False
        value = source_of(bound.file).at(bound)
        if value is None or value is expression or isinstance(value, ast.stmt):
            return False
        return reads(_in_same_file(site, value), value, leaving, names - 1)
    return False


def _parts(expression: ast.AST) -> Sequence[ast.expr] | None:
    """The parts of an expression that its value is made of; None for names, attributes, calls and constants."""
    match expression:
        case ast.BinOp():
            return expression.left, expression.right
        case ast.UnaryOp():
            return (expression.operand,)
        case ast.IfExp():
            return expression.body, expression.orelse
        case ast.List() | ast.Tuple() | ast.Set():
            return expression.elts
        case ast.ListComp() | ast.GeneratorExp():
            return expression.elt, *(generator.iter for generator in expression.generators)
        case ast.Dict() | ast.JoinedStr():
            return expression.values
        case ast.Subscript() | ast.FormattedValue() | ast.Starred() | ast.NamedExpr():
            return (expression.value,)
    return None


def _is_same_array(site: UserExpression, expression: ast.AST, array: ast.expr, names: int) -> bool:
    """Whether an expression is the array that was written into: by its name, as an attribute, or as an argument.

    A function that writes into its argument writes into what its callers in this file pass.
    """
    if isinstance(expression, ast.Name) and isinstance(array, ast.Name) and expression.id == array.id:
        return site.home(expression, array.id) is site.home(array, array.id)
    if isinstance(expression, ast.Attribute) and isinstance(array, ast.Attribute) and expression.attr == array.attr:
        classes = [_class_of_self(site, each.value) for each in (expression, array)]
        return classes[0] is classes[1] or None in classes
    if isinstance(expression, ast.Subscript) and isinstance(array, ast.Subscript):  # state["u"][i] = x
        return ast.unparse(expression) == ast.unparse(array) and _is_same_array(
            site, expression.value, array.value, names
        )
    if not names or not isinstance(array, ast.Name) or not isinstance(expression, ast.Name | ast.Attribute):
        return False
    return any(_is_same_array(site, expression, passed, names - 1) for passed in _passed_arguments(site, array))


def _class_of_self(site: UserExpression, owner: ast.expr) -> ast.AST | None:
    """The class around an expression `self`; None for the name of another object."""
    if not isinstance(owner, ast.Name) or owner.id != "self":
        return None
    return next((scope for scope in site.source.scopes(owner) if isinstance(scope, ast.ClassDef)), None)


def _passed_arguments(site: UserExpression, name: ast.Name) -> list[ast.expr]:
    """What the calls in this file pass for the argument `name` of the function around it; empty if it is none."""
    function = site.home(name, name.id)
    if not isinstance(function, ast.FunctionDef) or site.source.tree is None:
        return []
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if name.id not in names:
        return []
    index = names.index(name.id) - (names[0] in ("self", "cls"))
    passed: list[ast.expr] = []
    for call in ast.walk(site.source.tree):
        if not isinstance(call, ast.Call):
            continue
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called != function.name:
            continue
        by_keyword = [keyword.value for keyword in call.keywords if keyword.arg == name.id]
        by_place = call.args[index : index + 1] if index >= 0 else []
        passed += by_keyword or by_place
    return passed


def _is_appended(site: UserExpression, name: ast.Name, left: ast.AST) -> bool:
    """Whether the departing value was appended to the list `name`: `values.append(float(x))`."""
    call = site.source.parents.get(left)
    function = call.func if isinstance(call, ast.Call) and left in call.args else None
    if not isinstance(function, ast.Attribute) or function.attr != "append" or not isinstance(function.value, ast.Name):
        return False
    return function.value.id == name.id and site.home(name, name.id) is site.home(left, name.id)


def _attribute_reads(
    site: UserExpression, attribute: ast.Attribute, leaving: tuple[UserExpression, ast.AST | None], names: int
) -> bool:
    """Whether `self.x` is computed from the value of `leaving`: by a property, or where it was last assigned."""
    if attribute.attr in _TRANSPARENT_ATTRIBUTES and reads(site, attribute.value, leaving, names):
        return True
    if not names:
        return False
    function = site.source.method(attribute.attr)
    if function is not None:
        return any(reads(_in_same_file(site, value), value, leaving, names - 1) for value in returned_values(function))
    bound = site.binding(attribute)
    value = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    return isinstance(value, ast.expr) and reads(_in_same_file(site, value), value, leaving, names - 1)


def _in_same_file(site: UserExpression, node: ast.expr) -> UserExpression:
    """The expression `node`, at another place of the same file."""
    there = UserExpression(None)
    there.source, there.node = site.source, node
    return there


def _call_reads(
    site: UserExpression, call: ast.Call, leaving: tuple[UserExpression, ast.AST | None], names: int
) -> bool:
    """Whether a call is computed from the value of `leaving`: in its arguments, or inside a function of this file."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if _passes_arguments(site, function, name):
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(reads(site, argument, leaving, names) for argument in arguments):
            return True
    owner = function.value if isinstance(function, ast.Attribute) else None
    passes_owner = name in _TRANSPARENT_METHODS or name in _FILE_READERS
    if owner is not None and passes_owner and reads(site, owner, leaving, names):
        return True
    if name in _FILE_READERS and _is_read_back(site, call, leaving):
        return True
    called = None
    if names:
        called = site.source.method(name) if isinstance(function, ast.Attribute) else site.source.function(name)
    returned = [] if called is None else returned_values(called)
    return any(reads(_in_same_file(site, value), value, leaving, names - 1) for value in returned)


def _passes_arguments(site: UserExpression, function: ast.expr, name: str) -> bool:
    """Whether what a function returns is computed from the numbers, the text or the bytes that it is given."""
    if name in _TRANSPARENT_FUNCTIONS or name in _METHODS_OF_ARGUMENTS:
        return True
    owner = root_name(function)
    if site.source.imports.get(owner or name, owner).partition(".")[0] in _TRANSPARENT_MODULES:
        return True
    in_part = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Attribute)  # np.linalg.solve
    return site.source.is_array_module(owner) and (in_part or hasattr(np, name))


# -- through files


def _is_read_back(site: UserExpression, call: ast.Call, leaving: tuple[UserExpression, ast.AST | None]) -> bool:
    """Whether a call reads the file, or the buffer, that the departing value was written to."""
    elsewhere, left = leaving
    written = [] if left is None else _files_written_to(elsewhere, left)
    if not written:
        return False
    read = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    for place in [*read, *call.args[:1]]:
        for alike in _names_of_file(site, place):
            if any(_is_same_file(site, alike, other) for other in written):
                return True
    return False


def _files_written_to(site: UserExpression, left: ast.AST) -> list[ast.expr]:
    """The expressions for the file that `np.save(path, x)`, `file.write(f"{x}")` or `path.write_text(str(x))` write."""
    around: ast.AST | None = left
    while around is not None and not isinstance(around, ast.stmt):
        if isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute):
            name = around.func.attr
            if name in _FILE_WRITERS and around.args:
                is_json = name == "dump" and len(around.args) > 1  # json.dump(value, file), pickle.dump(value, file)
                return _names_of_file(site, around.args[1 if is_json else 0])
            if name in _WRITE_METHODS:
                return _names_of_file(site, around.func.value)
        if isinstance(around, ast.Call) and getattr(around.func, "id", "") == "print":
            files = [keyword.value for keyword in around.keywords if keyword.arg == "file"]
            return [name for file in files for name in _names_of_file(site, file)]
        around = site.source.parents.get(around)
    return []


def _names_of_file(site: UserExpression, file: ast.expr) -> list[ast.expr]:
    """An expression for a file, and that for its path, if it was made by `open(path)` or `with open(path) as file`."""
    if isinstance(file, ast.Name):
        for statement in ast.walk(site.home(file, file.id) or ast.Module([], [])):
            for made, target in _files_opened(statement):
                if isinstance(target, ast.Name) and target.id == file.id:
                    return [file, *_path_opened(made)]
    return [file, *_path_opened(file)]


def _files_opened(statement: ast.AST) -> list[tuple[ast.expr, ast.expr | None]]:
    if isinstance(statement, ast.With):
        return [(item.context_expr, item.optional_vars) for item in statement.items]
    if isinstance(statement, ast.Assign):
        return [(statement.value, target) for target in statement.targets]
    return []


def _path_opened(made: ast.expr) -> list[ast.expr]:
    """The path in `open(path)` and `path.open()`."""
    if not isinstance(made, ast.Call):
        return []
    if isinstance(made.func, ast.Name) and made.func.id == "open":
        return made.args[:1]
    return [made.func.value] if isinstance(made.func, ast.Attribute) and made.func.attr == "open" else []


def _is_same_file(site: UserExpression, read: ast.expr, written: ast.expr) -> bool:
    if ast.unparse(read) != ast.unparse(written):
        return False
    root = read.id if isinstance(read, ast.Name) else root_name(read)
    return not root or site.home(read, root) is site.home(written, root)
