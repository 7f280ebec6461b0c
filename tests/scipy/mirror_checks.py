"""What the tests of gradtape.scipy have in common: values against SciPy's, gradients against finite differences."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.errors import GradTapeError

Array = np.ndarray[Any, Any]


def leaves(value: Any) -> list[Any]:
    """The arrays in a result: itself, or those in nested tuples and lists."""
    if isinstance(value, tuple | list):
        return [leaf for element in value for leaf in leaves(element)]
    return [value]


def is_moving(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def check_against_scipy(
    ours: Any,
    theirs: Any,
    *args: Any,
    order: int = 1,
    exact: float = 1e-10,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    **kwargs: Any,
) -> None:
    """Tensors give SciPy's values, shapes and dtypes; derivatives by all floating arrays are right in both modes."""
    places = [i for i, argument in enumerate(args) if is_moving(argument)]
    tensors = [gt.tensor(a) if i in places else a for i, a in enumerate(args)]
    found, wanted = leaves(ours(*tensors, **kwargs)), leaves(theirs(*args, **kwargs))
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        values, expected = np.asarray(one.numpy() if isinstance(one, gt.Tensor) else one), np.asarray(other)
        assert (values.shape, values.dtype) == (expected.shape, expected.dtype)
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(values, expected, rtol=exact, atol=exact * scale)

    def tracked(*moving: Any) -> Any:
        arguments = list(args)
        for i, value in zip(places, moving, strict=True):
            arguments[i] = value
        results = leaves(ours(*arguments, **kwargs))
        return [x for x in results if isinstance(x, gt.Tensor) and x.dtype.kind in "fc"]

    gt.gradcheck(tracked, *[args[i] for i in places], order=order, rtol=rtol, atol=atol)


def check_under_vmap_and_jit(function: Any, *args: Any) -> None:
    """`function` of one example, mapped over the first axis, is a loop over the examples; compiled, it is the same."""
    mapped = gt.vmap(function)(*args)
    looped = np.stack([np.asarray(function(*[a[i] for a in args])) for i in range(len(args[0]))])
    np.testing.assert_allclose(mapped, looped, rtol=1e-9, atol=1e-9)
    example = [a[0] for a in args]
    total = lambda *xs: (function(*xs) ** 2).sum()
    numbers = tuple(range(len(args)))
    compiled = gt.jit(gt.grad(total, argnums=numbers))
    for _ in range(2):
        for one, other in zip(compiled(*example), gt.grad(total, argnums=numbers)(*example), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


def check_every_name(ours: ModuleType, theirs: ModuleType, objects: str, version_dependent: str = "") -> None:
    """Each public name of SciPy's module is differentiated, changes in steps, has a reason, or is a given object."""
    functions = ours.original.functions
    reasons = [name for names in ours.REASONS.values() for name in names.split()]
    reasons += getattr(ours, "PIECEWISE_CONSTANT", "").split()
    listed = {*functions, *reasons, *objects.split(), *version_dependent.split()}
    assert len(reasons) == len({*reasons})
    assert {*functions}.isdisjoint(reasons)
    for name in dir(theirs):
        if name.startswith("_"):
            continue
        assert name in dir(ours)
        found = getattr(ours, name)
        assert name in listed, f"{theirs.__name__}.{name} is not listed"
        if name in functions:
            assert found is functions[name]
    for name in reasons:
        assert hasattr(theirs, name) or name in version_dependent.split(), f"{name} is not in {theirs.__name__}"


def refuses(function: Any, *args: Any, **kwargs: Any) -> str:
    """The message of the error that a call with a tracked tensor in place of each floating array raises."""
    try:
        with gt.GradientTape() as tape:
            function(*[tape.watch(gt.tensor(a)) if is_moving(a) else a for a in args], **kwargs)
    except GradTapeError as error:
        return str(error)
    raise AssertionError("no error")
