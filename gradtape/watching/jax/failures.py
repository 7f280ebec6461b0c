"""An error of JAX's: the user's expression that it passed through, and the frames of JAX below it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple

import jax

from gradtape.core.location import is_library
from gradtape.explain.model.problem import Span
from gradtape.explain.model.record import Shape
from gradtape.explain.source.expression import UserExpression

_TYPE = re.compile(r"\b(?:bfloat|float|complex|uint|int|bool|f|i|u|c)\d*\[([\d,]*)\]")


class Failure(NamedTuple):
    """An error, the user's expression that it passed through last, and the frame of JAX that this expression called."""

    error: BaseException
    words: str
    site: UserExpression
    called: FrameType | None
    below: Sequence[FrameType]
    callers: Sequence[UserExpression]  # of the user's, the outermost first


def failure_of(error: BaseException) -> Failure | None:
    trace, places = error.__traceback__, []
    while trace is not None:
        places.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    mine = [index for index, (frame, _) in enumerate(places) if not is_library(frame.f_code.co_filename)]
    if not mine:
        return None
    last = mine[-1]
    below = [frame for frame, _ in places[last + 1 :] if not frame.f_code.co_filename.startswith(_OUR_FOLDER)]
    callers = [UserExpression(*places[index]) for index in mine]
    called = [frame.f_code.co_filename for frame, _ in places[last + 1 :]]
    is_jax = any(_is_of_jax(file) for file in called) or type(error).__module__.partition(".")[0] in BUILT_ON_JAX
    is_jax = is_jax or _has_removed_frames(error) or behind(error, jax.errors.JAXTypeError) is not None
    words = str(error)
    is_arithmetic = isinstance(error, TypeError) and not below and _ARITHMETIC.match(words) is not None
    if not is_jax and not is_arithmetic and not any(part in words for part in _WORDS_OF_JAX):
        return None
    return Failure(error, words, callers[-1], below[0] if below else None, below, callers)


_OUR_FOLDER = __file__.rpartition("/")[
    0
]  # our functions stand for those of JAX, which may be compiled and have no frame
BUILT_ON_JAX = (
    "jax",
    "jaxlib",
    "optax",
    "flax",
    "equinox",
    "chex",
    "haiku",
    "jaxopt",
    "lineax",
    "optimistix",
    "diffrax",
)
"""The packages whose errors are about JAX."""


_ARITHMETIC = re.compile(r"unsupported operand type|can't multiply sequence|bad operand type")


def _has_removed_frames(error: BaseException) -> bool:
    """Whether JAX has taken its own frames out of the traceback, which it says in a note."""
    return any("JAX has removed its internal frames" in note for note in getattr(error, "__notes__", ()))


def behind(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    """The error of a kind that another one was raised from: NumPy hides what converting a tracer has raised."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, kind):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def _is_of_jax(file: str) -> bool:
    return file.startswith(_OUR_FOLDER) or any(f"/{package}/" in file for package in BUILT_ON_JAX)


_WORDS_OF_JAX = (
    "Gradient only defined",
    "grad requires",
    "Reverse-mode differentiation",
    "lax.",
    "Custom VJP",
    "Custom JVP",
    "custom_vjp",
    "JAX",
    "jax",
    "vmap got",
    "cond branches",
    "scan body",
    "dot_general",
    "aux output",
    "argnums",
    "pytree",
    "incompatible shapes for broadcasting",
    "Incompatible shapes for broadcasting",
)


def shapes_in(words: str) -> list[Shape]:
    """The shapes of the types in a message of JAX's.

    >>> shapes_in("got float32[3], but expected float32[4,2]")
    [(3,), (4, 2)]
    """
    return [tuple(int(n) for n in found.split(",") if n) for found in _TYPE.findall(words)]


def call_at(site: UserExpression) -> ast.Call | None:
    node = site.node.value if isinstance(site.node, ast.Expr) else site.node
    return node if isinstance(node, ast.Call) else None


def called_name(site: UserExpression) -> str:
    call = call_at(site)
    if call is None:
        return ""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def constant_argument(site: UserExpression, call: ast.Call, name: str, position: int) -> Any:
    part = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if part is None and len(call.args) > position:
        part = call.args[position]
    try:
        return None if part is None else ast.literal_eval(part)
    except ValueError:
        value = site.value(part) if isinstance(part, ast.Name) else None
        return value if isinstance(value, int | tuple) else None


def asked_span(failure: Failure) -> list[Span]:
    file = failure.site.location.file
    first = next(site for site in failure.callers if site.location.file == file)
    return [] if first is failure.site or first.node is None else [first.span.labelled("asked here")]


def name_of_jax_numpy(site: UserExpression) -> str:
    names = [bound for bound, module in site.source.imports.items() if module == "jax.numpy"]
    return names[0] if names else "jax.numpy"


__all__ = [
    "Failure",
    "asked_span",
    "behind",
    "call_at",
    "called_name",
    "constant_argument",
    "failure_of",
    "name_of_jax_numpy",
    "shapes_in",
]
