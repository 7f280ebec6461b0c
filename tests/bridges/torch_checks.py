"""PyTorch and gradtape: numbers there and back, and gradtape's functions inside PyTorch's graph."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt


def wave(x: Any, y: Any, power: int = 2) -> Any:
    """A function with a sum, a product and an argument that is no array."""
    return np.sum(np.sin(x) * y**power)


def operands(torch: Any, dtype: str = "float64") -> tuple[Any, Any]:
    kind = getattr(torch, dtype)
    return (
        torch.tensor([1.0, 2.0], dtype=kind, requires_grad=True),
        torch.tensor([0.5, 3.0], dtype=kind, requires_grad=True),
    )


def raises(kind: type[Exception], call: Any, says: str) -> None:
    message = "no error"
    try:
        call()
    except kind as error:
        message = str(error)
    assert says in message, message


def check_from_torch(torch: Any) -> None:
    """from_torch copies numbers, shapes and dtypes"""
    for dtype in ("bool", "int8", "int64", "float32", "float64", "complex64"):
        theirs = torch.ones((2, 3), dtype=getattr(torch, dtype))
        ours = gt.from_torch(theirs)
        assert (ours.shape, str(ours.dtype)) == ((2, 3), dtype)
        theirs[0, 0] = 0
        assert ours[0, 0] == 1
    assert gt.from_torch(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
    assert gt.from_torch(torch.ones(2), requires_grad=True).requires_grad


def check_to_torch(torch: Any) -> None:
    """to_torch copies numbers, shapes and dtypes"""
    ours = gt.tensor([[1.0, 2.0]], dtype="float32")
    theirs = gt.to_torch(ours, requires_grad=True)
    assert (theirs.dtype, theirs.requires_grad) == (torch.float32, True)
    with torch.no_grad():
        theirs[0, 0] = 9.0
    assert ours.tolist() == [[1.0, 2.0]]


def check_refusals(torch: Any) -> None:
    """what would lose a gradient, or has no NumPy dtype, is refused with the fix"""
    x, _ = operands(torch)
    tracked = gt.tensor([1.0], requires_grad=True)
    raises(gt.DetachError, lambda: gt.from_torch(x), "as_torch(f)(x)")
    raises(gt.DetachError, lambda: gt.to_torch(tracked), "x.detach()")
    raises(gt.DetachError, lambda: torch.from_dlpack(tracked), "torch_checks.py")
    raises(gt.DtypeError, lambda: gt.from_torch(torch.ones(2, dtype=torch.bfloat16)), "x.float()")
    raises(gt.OperandError, lambda: gt.from_torch(torch.eye(2).to_sparse()), "x.to_dense()")
    raises(gt.OperandError, lambda: gt.from_torch(np.ones(2)), "gt.tensor(x)")
    raises(gt.OperandError, lambda: gt.from_dlpack(x), "requires no gradient")
    raises(gt.OperandError, lambda: gt.bridges.as_torch(3.0), "no function")


def check_dlpack(torch: Any) -> None:
    """torch.from_dlpack takes a copy, which PyTorch may write to; gt.from_dlpack takes PyTorch's numbers"""
    ours = gt.tensor([1.0, 2.0])
    theirs = torch.from_dlpack(ours)
    theirs[0] = 9.0
    assert ours.tolist() == [1.0, 2.0]
    assert gt.from_dlpack(theirs).tolist() == [9.0, 2.0]


def check_gradient(torch: Any) -> None:
    """as_torch: value and gradient are PyTorch's own, in float32 and float64"""
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-12)):
        x, y = operands(torch, dtype)
        value = gt.bridges.as_torch(wave)(x, y, power=3)
        expected = torch.sum(torch.sin(x) * y**3)
        assert value.dtype == x.dtype
        torch.testing.assert_close(value, expected, rtol=tolerance, atol=tolerance)
        for found, wanted in zip(
            torch.autograd.grad(value, (x, y)), torch.autograd.grad(expected, (x, y)), strict=True
        ):
            torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


def check_gradcheck(torch: Any) -> None:
    """as_torch: torch.autograd.gradcheck and gradgradcheck are content"""
    function = gt.bridges.as_torch(wave)
    assert torch.autograd.gradcheck(function, operands(torch))
    assert torch.autograd.gradgradcheck(function, operands(torch))


def check_third_order(torch: Any) -> None:
    """as_torch: the third derivative of a fifth power"""
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    value = gt.bridges.as_torch(lambda x: x**5)(x)
    for _ in range(3):
        (value,) = torch.autograd.grad(value, x, create_graph=True)
    assert abs(value.item() - 60 * 4) < 1e-9


def check_functional(torch: Any) -> None:
    """as_torch: torch.func.grad, torch.func.jvp and torch.autograd.functional.hessian work"""
    x, y = operands(torch)
    function = gt.bridges.as_torch(wave)
    reference = lambda x, y: torch.sum(torch.sin(x) * y**2)
    torch.testing.assert_close(torch.func.grad(function)(x, y), torch.func.grad(reference)(x, y))
    for found, wanted in zip(
        torch.func.jvp(function, (x, y), (y, x)), torch.func.jvp(reference, (x, y), (y, x)), strict=True
    ):
        torch.testing.assert_close(found, wanted)
    hessian = torch.autograd.functional.hessian
    torch.testing.assert_close(hessian(lambda x: function(x, y), x), hessian(lambda x: reference(x, y), x))


def check_vmap(torch: Any) -> None:
    """as_torch: torch.func.vmap maps the function, and its gradient; other results are per example too"""
    x, y = (each.detach() for each in operands(torch))
    batch = torch.stack([x, y, x + y])
    function = gt.bridges.as_torch(wave)
    reference = lambda x, y: torch.sum(torch.sin(x) * y**2)
    for mapped in (lambda f: torch.func.vmap(f, (0, None)), lambda f: torch.func.vmap(torch.func.grad(f), (0, None))):
        torch.testing.assert_close(mapped(function)(batch, y), mapped(reference)(batch, y))
    assert torch.func.vmap(gt.bridges.as_torch(np.argmax), 1)(batch).tolist() == [2, 2]


def check_complex(torch: Any) -> None:
    """as_torch: complex gradients follow PyTorch's convention"""
    z = torch.tensor([1 + 2j, 0.5j], dtype=torch.complex128, requires_grad=True)
    ours = gt.bridges.as_torch(lambda z: np.sum(np.abs(z**2 * np.conj(z))))(z)
    (found,) = torch.autograd.grad(ours, z)
    (wanted,) = torch.autograd.grad((z**2 * z.conj()).abs().sum(), z)
    torch.testing.assert_close(found, wanted)
    assert torch.autograd.gradcheck(gt.bridges.as_torch(lambda z: np.exp(z * 1j) * z), (z,))


def check_structures(torch: Any) -> None:
    """as_torch: nested arguments and results, integer results and texts"""
    x, y = operands(torch)
    function = gt.bridges.as_torch(lambda p, k: {"sum": p["x"].sum() + p["y"][0], "at": np.argmax(p["x"]), "k": k})
    result = function({"x": x, "y": [y]}, "text")
    assert result["k"] == "text"
    assert (result["at"].item(), result["at"].requires_grad) == (1, False)
    result["sum"].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert y.grad.tolist() == [1.0, 1.0]


def check_only_what_is_wanted(torch: Any) -> None:
    """as_torch: integer inputs and inputs without a gradient are passed; no graph without gradients"""
    x, _ = operands(torch)
    indices = torch.tensor([1, 1])
    function = gt.bridges.as_torch(lambda x, i: gt.sum(gt.take(x, i) ** 2))
    (gradient,) = torch.autograd.grad(function(x, indices), x)
    assert gradient.tolist() == [0.0, 8.0]
    with torch.no_grad():
        assert not function(x, indices).requires_grad
    assert not function(x.detach(), indices).requires_grad


def check_training(torch: Any) -> None:
    """as_torch: a loss of gradtape's trains a module of PyTorch's"""
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 1).double()
    inputs = torch.randn(20, 3, dtype=torch.float64)
    targets = inputs @ torch.tensor([[1.0], [-2.0], [0.5]], dtype=torch.float64)
    loss = gt.bridges.as_torch(lambda found, wanted: np.mean((found - wanted) ** 2))
    optimiser = torch.optim.SGD(module.parameters(), lr=0.2)
    for _ in range(200):
        optimiser.zero_grad()
        value = loss(module(inputs), targets)
        value.backward()
        optimiser.step()
    assert value.item() < 1e-6
