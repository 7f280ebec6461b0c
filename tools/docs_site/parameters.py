"""What the reference says of parameters and shapes where a docstring need not: what is the same for many functions."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np

from gradtape.extend import Op
from tools.docs_site.names import doc_of

MEANINGS = {
    "axis": "the axis, or the axes, along which it works; None for all of them, or for the flattened array",
    "axes": "the axes along which it works",
    "keepdims": "whether the axes that were reduced stay, with length 1",
    "dtype": "the dtype of the result; None for the one that follows from the operands",
    "out": "an array that the result is written into",
    "where": "where it is True, elements count; elsewhere they are left out",
    "initial": "the value that the reduction begins with",
    "rng": "the generator of random numbers, `np.random.default_rng(seed)`",
    "size": "the shape of the result; None for that of the parameters",
    "reduction": '"mean", "sum" or "none" (the loss of each element)',
    "eps": "a small number that keeps a division or a root away from zero",
    "inplace": "taken for compatibility; the input is not changed",
    "training": "whether it behaves as in training",
    "learning_rate": "the step size: a number, or a schedule of `gt.optim.schedules`",
    "bounds": "limits of the unknowns, in the forms that SciPy takes",
    "has_aux": "whether the function returns a pair, of which only the first is differentiated",
    "argnums": "the number of the argument to differentiate with respect to, or a tuple of several",
    "unconnected_gradients": '"none", "zero" or "warn": what the gradient of an unconnected source is',
    "norm": 'the normalisation of NumPy\'s transforms: "backward", "ortho" or "forward"',
}
"""The meaning of parameters that have the same one wherever they appear."""


def sections(value: Any, signature: inspect.Signature) -> list[str]:
    """Fields of the parameters that the docstring does not name, and a line on shapes; nothing where there is none."""
    doc = doc_of(value)
    prose = doc.partition(">>>")[0]
    unnamed = [name for name in signature.parameters if not re.search(rf"`{name}\b|\b{name}=", prose)]
    fields = [f":param {name}: {MEANINGS[name]}" for name in unnamed if name in MEANINGS]
    if isinstance(value, Op) and "kwargs" in signature.parameters:
        fields.append(":param kwargs: the other keywords of NumPy's ufuncs: `casting`, `order`, `subok`")
    shapes = shapes_of(value)
    found = ["\n".join(fields)] if fields else []
    return [*found, f"**Shapes**: {shapes}"] if shapes else found


def shapes_of(value: Any) -> str:
    """What the shapes of operands have to be and that of the result is, where an operation says so by its kind."""
    if not isinstance(value, Op):
        return ""
    ufunc = value.kernel if isinstance(value.kernel, np.ufunc) else None
    if ufunc is not None and ufunc.signature:
        return f"`{ufunc.signature}`, with any axes in front, which are broadcast"
    count = ufunc.nin if ufunc is not None else None
    if count == 1:
        return "any; the result and the gradient have the shape of `x`"
    if ufunc is not None or value.stretches:
        return "operands are broadcast; each gradient has the shape of its operand"
    return ""
