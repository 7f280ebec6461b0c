"""Signatures as the reference shows them: with the types of the arguments, and names of types that lead to entries."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from gradtape.extend import Op

EMPTY = inspect.Parameter.empty
UFUNC_KEYWORDS = ("casting", "order", "dtype", "subok", "signature", "axes", "axis", "keepdims")


def signature_of(value: Any) -> inspect.Signature | None:
    """The signature of a function, an operation or a class; None where a call has no meaning or no fixed form."""
    if isinstance(value, Op):
        return _signature_of_operation(value)
    if inspect.isclass(value) and issubclass(value, BaseException) and "__init__" not in vars(value):
        return None  # errors are caught, and made by gradtape
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    if inspect.isclass(value):
        found = found.replace(return_annotation=EMPTY)
    return found


def _signature_of_operation(op: Op) -> inspect.Signature:
    """The operands of an operation with the keywords of NumPy's ufuncs that are used most, or with its own."""
    try:
        own = inspect.signature(op)
        operands = [p.name for p in own.parameters.values() if p.kind is p.POSITIONAL_ONLY]
    except (TypeError, ValueError):
        own, operands = None, []
    ufunc = op.kernel if isinstance(op.kernel, np.ufunc) else None
    if not operands:
        count = ufunc.nin if ufunc else len(_names_of_kernel(op))
        operands = ["x"] if count == 1 else [f"x{i + 1}" for i in range(count)]
        operands = _names_of_kernel(op) if ufunc is None else operands
    kind = inspect.Parameter
    parameters = [kind(name, kind.POSITIONAL_ONLY, annotation="TensorLike") for name in operands]
    if own is not None or ufunc is not None:
        parameters += [
            kind("out", kind.POSITIONAL_OR_KEYWORD, default=None, annotation="Array | None"),
            kind("where", kind.KEYWORD_ONLY, default=True, annotation="TensorLike"),
            kind("dtype", kind.KEYWORD_ONLY, default=None, annotation="DTypeLike"),
            kind("kwargs", kind.VAR_KEYWORD, annotation="Any"),
        ]
    return inspect.Signature(parameters, return_annotation="Any")


def _names_of_kernel(op: Op) -> list[str]:
    """The names of the operands of a kernel that is a function."""
    try:
        found = inspect.signature(op.kernel).parameters.values()
    except (TypeError, ValueError):
        return ["x"]
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def shown(signature: inspect.Signature, skip_first: bool = False) -> str:
    """A signature as text that Sphinx's domain of Python reads: `(x: TensorLike, axis: Axis = None) -> Any`."""
    parts, parameters = [], list(signature.parameters.values())[skip_first:]
    kinds = [parameter.kind for parameter in parameters]
    for index, parameter in enumerate(parameters):
        before = kinds[index - 1] if index else None
        if before is parameter.POSITIONAL_ONLY and parameter.kind is not parameter.POSITIONAL_ONLY:
            parts.append("/")
        if parameter.kind is parameter.KEYWORD_ONLY and before not in (
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        ):
            parts.append("*")
        parts.append(_parameter(parameter))
    if kinds and kinds[-1] is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    returns = "" if signature.return_annotation is EMPTY else f" -> {type_shown(signature.return_annotation)}"
    return f"({', '.join(parts)}){returns}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (parameter.kind is parameter.VAR_KEYWORD)
    text = f"{stars}{parameter.name}"
    if parameter.annotation is not EMPTY:
        text += f": {type_shown(parameter.annotation)}"
    if parameter.default is not EMPTY:
        equals = " = " if parameter.annotation is not EMPTY else "="
        text += f"{equals}{default_shown(parameter.default)}"
    return text


def default_shown(value: Any) -> str:
    """A default as an expression of Python: names for classes and functions, `...` for what has no short form."""
    if inspect.isclass(value) or inspect.isfunction(value) or inspect.isbuiltin(value):
        module = value.__module__.partition(".")[0]
        return value.__name__ if module in ("builtins", "gradtape") else f"{module}.{value.__name__}"
    if isinstance(value, Op):
        return f"gt.{value.__name__}"
    text = repr(value)
    return "..." if re.search(r"<.*>|\n", text) or len(text) > 60 else text


def type_shown(annotation: Any) -> str:
    """An annotation as text, with the full names of what the reference documents."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = text.strip("'\"").replace("collections.abc.", "").replace("typing.", "")
    text = re.sub(r"\bgradtape\.(?:\w+\.)*(?=[A-Za-z_]\w*)", "", text)
    text = re.sub(r"(?<![\w.])(?:type\[)?\b[TFKV]\b\]?", "Any", text)  # variables that stand for any type
    return re.sub(r"(?<![\w.'\"])[A-Z]\w*", lambda found: full_names().get(found[0], found[0]), text)


def full_names() -> dict[str, str]:
    """The full names of the documented types, by their last part."""
    if not _full_names:
        from tools.docs_site import names, types

        _full_names.update({name: f"gradtape.types.{name}" for name in types.ALIASES})
        for group in names.groups():
            for qualified in group.names:
                value = names.value_of(qualified)
                if inspect.isclass(value):
                    _full_names.setdefault(value.__name__, names.full_name(qualified))
    return _full_names


_full_names: dict[str, str] = {}
