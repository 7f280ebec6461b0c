"""Whether the text of a value is printed or logged, and does not come back as a number."""

from __future__ import annotations

import ast

from gradtape.explain.source.expression import UserExpression

_LOGGING = frozenset(
    {"print", "pprint", "echo", "debug", "info", "warning", "warn", "error", "critical", "exception", "log"}
    | {"set_description", "set_description_str", "set_postfix", "set_postfix_str", "add_text", "title", "set_title"}
)


def is_only_shown(site: UserExpression, text: ast.AST | None) -> bool:
    """Whether the text that an expression makes goes to a statement that shows it, directly or by a name."""
    statement = None if text is None else site.source.statement(text)
    if statement is None or text is None or _is_in_lambda(site, text):
        return False
    if _shows(statement):
        return True
    if not isinstance(statement, ast.Assign) or (
        statement.value is not text and not isinstance(statement.value, ast.JoinedStr | ast.BinOp)
    ):
        return False
    target = statement.targets[0] if len(statement.targets) == 1 else None
    scope = site.home(target, target.id) if isinstance(target, ast.Name) else None
    if not isinstance(target, ast.Name) or not isinstance(scope, ast.FunctionDef):
        return False
    uses = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == target.id]
    read = [site.source.statement(node) for node in uses if isinstance(node.ctx, ast.Load)]
    return all(use is not None and _shows(use) for use in read)


def _is_in_lambda(site: UserExpression, text: ast.AST) -> bool:
    """Whether an expression is part of a function inside of its statement, which returns it to others."""
    around: ast.AST | None = text
    while around is not None and not isinstance(around, ast.stmt):
        if isinstance(around, ast.Lambda):
            return True
        around = site.source.parents.get(around)
    return False


def _shows(statement: ast.stmt) -> bool:
    """Whether a statement prints or logs what it is given, or raises an error with it."""
    if isinstance(statement, ast.Raise | ast.Assert):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    for keyword in call.keywords:
        if keyword.arg == "file" and not ast.unparse(keyword.value).startswith("sys."):
            return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _LOGGING
