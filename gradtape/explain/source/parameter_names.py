"""The name of a tensor in the user's program: a variable, or a path through containers and objects that hold it.

Names are searched in the function that asks for the gradient, then in its module. No user code is called, and the
search is bounded; a tensor that it does not reach has no name.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from gradtape.explain.model.record import Record
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line
from gradtape.explain.source.libraries import array_of, is_tensor, record_of

DEPTH = 4
OBJECTS_AT_MOST = 4000
NAMES_AT_MOST = 4
LONGEST = 40
_OPAQUE = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, FunctionType, MethodType)


_assumed_request: ContextVar[UserExpression | None] = ContextVar("gradtape request", default=None)


@contextmanager
def names_as_at(site: UserExpression, request: ast.expr) -> Iterator[None]:
    """Inside, names are searched in the function that contains `request`, which may have ended."""
    place = UserExpression(None)
    place.frame, place.source, place.node = site.frame, site.source, request
    token = _assumed_request.set(place)
    try:
        yield
    finally:
        _assumed_request.reset(token)


def _request() -> UserExpression:
    return _assumed_request.get() or UserExpression.present()


def name_of(tensor: Any, site: UserExpression | None = None) -> str:
    """The expression by which the user's program reaches `tensor`; empty if it is not known.

    >>> import gradtape as gt
    >>> params = {"bias": gt.Variable(0.0)}
    >>> name_of(params["bias"], UserExpression(__import__("sys")._getframe()))
    "params['bias']"
    """
    site = site or _request()
    return _text_in_request(site, tensor) or next(
        (name for name, held in _reachable_tensors(site.frame) if held is tensor), ""
    )


def tensor_of(array: Any, site: UserExpression | None = None) -> Any:
    """The user's tensor whose value is `array`, or `array` itself if it is one; None if there is none."""
    if is_tensor(array):
        return array
    return next(
        (tensor for _, tensor in _reachable_tensors((site or _request()).frame) if array_of(tensor) is array), None
    )


def name_of_target(target: Any) -> str:
    """The name of the target of the present request; empty if it is not a short name."""
    site = _request()
    part = site.asked()[0]
    text = "" if part is None else one_line(site.source.text(part))
    is_name = isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and site.value(part) is target
    return text if is_name and len(text) <= LONGEST else ""


def names_of_leaves(records: Iterable[Record]) -> list[str]:
    """The names of the leaves among `records` that receive gradients: variables, watched, or with `requires_grad`."""
    leaves = {record for record in records if not record.operation and record.is_tracked}
    site = _request()
    found: dict[Record, str] = {}
    passing: dict[Record, str] = {}  # names that a loop rebinds in each iteration
    loops = _names_of_loops(site) if leaves else set()
    for name, tensor in _reachable_tensors(site.frame) if leaves else ():
        record = record_of(tensor)
        if record is not None and record in leaves:
            (passing if name in loops else found).setdefault(record, name)
    named = {**passing, **found}
    return [named[record] for record in sorted(named, key=lambda record: record.order)]


def _names_of_loops(site: UserExpression) -> set[str]:
    """The names that `for` binds in the user's file."""
    tree = site.source.tree
    loops = [node.target for node in ast.walk(tree) if isinstance(node, ast.For)] if tree is not None else []
    return {part.id for target in loops for part in ast.walk(target) if isinstance(part, ast.Name)}


def join_names(names: Iterable[str]) -> str:
    """A few names in one phrase.

    >>> join_names(["a"]), join_names(["a", "b", "c"]), join_names("abcdef")
    ('a', 'a, b and c', 'a, b, c, d and 2 more')
    """
    found = list(names)
    shown = found[:NAMES_AT_MOST]
    if len(found) > len(shown):
        shown.append(f"{len(found) - len(shown)} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def _text_in_request(site: UserExpression, tensor: Any) -> str:
    """The source text of the argument of the request that is `tensor`: `params["bias"]`."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return ""
    for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
        for part in ast.walk(argument):
            if isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and site.value(part) is tensor:
                text = one_line(site.source.text(part))
                return text if len(text) <= LONGEST else ""
    return ""


def _reachable_tensors(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The tensors that are reachable from the names of a frame, those with a name of their own first.

    A tensor is yielded once for its own name and once for the first container that holds it.
    """
    if frame is None:
        return
    scopes = [frame.f_locals] if frame.f_locals is frame.f_globals else [frame.f_locals, frame.f_globals]
    pending: deque[tuple[str, Any, int]] = deque()
    for scope in scopes:
        pending.extend(
            (name, value, 0)
            for name, value in list(scope.items())
            if not isinstance(value, _OPAQUE) and not name.startswith("__")
        )
    seen: set[tuple[int, bool]] = set()
    while pending and len(seen) < OBJECTS_AT_MOST:
        name, value, depth = pending.popleft()
        if (id(value), depth > 0) in seen:
            continue
        seen.add((id(value), depth > 0))
        if is_tensor(value):
            yield name, value
        elif depth < DEPTH:
            pending.extend((inner, part, depth + 1) for inner, part in _parts(name, value))


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """What a container, or an object with attributes, holds and is not opaque, with the expression that reaches it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [(f".{field}", part) for field, part in zip(value._fields, value) if not isinstance(part, _OPAQUE)]
    elif isinstance(value, dict):
        items = [(key, part) for key, part in list(value.items()) if not isinstance(part, _OPAQUE)]
        parts = [(f"[{key!r}]", part) for key, part in items if isinstance(key, str | int)]
    elif isinstance(value, list | tuple | deque):
        shown = enumerate(list(value)[:OBJECTS_AT_MOST])
        parts = [(f"[{index}]", part) for index, part in shown if not isinstance(part, _OPAQUE)]
    else:
        held = getattr(value, "__dict__", None)
        items = list(held.items()) if isinstance(held, dict) else []
        parts = [(f".{key}", part) for key, part in items if not isinstance(part, _OPAQUE) and str(key)[:1] != "_"]
    return [(name + end, part) for end, part in parts]


__all__ = ["join_names", "name_of", "name_of_target", "names_as_at", "names_of_leaves", "tensor_of"]
