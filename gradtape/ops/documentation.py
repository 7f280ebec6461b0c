"""Docstrings of table rows: a row gives a few words and one worked example, the rest is the same for all.

Examples are printed with tensors, so that eight digits are compared, and the tests run every one of them.
"""

from __future__ import annotations


def slopes(what: str, derivative: str, example: str) -> str:
    """The docstring of a differentiable row, from an example that reads `name(arguments) -> value, slope, ...`.

    >>> slopes("The square root", "1 / (2 sqrt(x))", "sqrt(4.0) -> 2., 0.25").splitlines()[0]
    'The square root. Derivative: 1 / (2 sqrt(x)).'
    """
    call, _, results = example.partition(" -> ")
    name, _, inside = call.rstrip(")").partition("(")
    value, *found = (f"Tensor({number})" for number in results.split(", "))
    arguments = ", ".join(f"gt.tensor({number})" for number in inside.split(", "))
    numbers = ", ".join(str(i) for i in range(len(found)))
    which, answer = ("", found[0]) if len(found) == 1 else (f", ({numbers})", f"({', '.join(found)})")
    shown = f">>> gt.value_and_grad(gt.{name}{which})({arguments})\n    ({value}, {answer})"
    return f"{what}. Derivative{'s' * (len(found) > 1)}: {derivative}.\n\n    >>> import gradtape as gt\n    {shown}\n"


def flat(what: str, example: str) -> str:
    """The docstring of a row without a derivative, from an example that reads `name(arguments) -> value`.

    >>> flat("The nearest integer below", "floor([1.5]) -> [1.]").splitlines()[0]
    'The nearest integer below. No gradient passes.'
    """
    call, _, result = example.partition(" -> ")
    name, _, inside = call.removesuffix(")").partition("(")
    first, separator, rest = inside.partition("], ")
    arguments = f"gt.tensor({first}]), {rest}" if separator else f"gt.tensor({inside})"
    shown = f">>> gt.{name}({arguments})\n    Tensor({result})"
    return f"{what}. No gradient passes.\n\n    >>> import gradtape as gt\n    {shown}\n"
