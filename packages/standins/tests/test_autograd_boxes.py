"""What people and packages see of a traced value under the stand-in for autograd: its text, its class, its company."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as onp
import pytest

import gradtape as gt
import gradtape_standins.autograd.numpy as np
from gradtape_standins import standing_in
from gradtape_standins.autograd import elementwise_grad, grad, jacobian, make_jvp
from gradtape_standins.autograd.extend import defjvp, defvjp, primitive
from gradtape_standins.autograd.numpy.numpy_boxes import ArrayBox
from gradtape_standins.autograd.primitives import primitive_jvps


class Halves(NamedTuple):
    """Two results."""

    left: Any
    right: Any


class Named(onp.ndarray):
    """An array whose ufuncs see only its own kind, and that makes of refusals what comes out."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        given = [x.view(onp.ndarray) if isinstance(x, Named) else x for x in inputs]
        return onp.asarray(onp.ndarray.__array_ufunc__(self, ufunc, method, *given, **kwargs)).view(Named)


def test_a_traced_value_prints_as_a_box() -> None:
    """`print` and f-strings show autograd's text while a function is traced, either way; afterwards the value."""
    seen: list[str] = []

    def square(x: Any) -> Any:
        seen.extend([str(x), f"{x * 2}", str(np.floor(x))])
        return x**2

    grad(square)(1.5)
    assert seen == ["Autograd ArrayBox with value 1.5", "Autograd ArrayBox with value 3.0", "1.0"]
    make_jvp(square)(onp.array([1.0, 2.0]))(onp.ones(2))
    assert seen[3] == "Autograd ArrayBox with value [1. 2.]"
    assert str(gt.tensor([1.0, 2.0], requires_grad=True)) == "[1. 2.]"


def test_a_dispatcher_finds_autograd_by_the_module_of_the_class() -> None:
    """While the stand-in is in autograd's place, so is its class, by name and module; and pickles come back."""
    kind = type(gt.tensor(1.0))
    with standing_in("autograd"):
        assert (kind.__module__, kind.__name__) == ("autograd.numpy.numpy_boxes", "ArrayBox")
        assert pickle.loads(pickle.dumps(kind)) is gt.Tensor
    assert (kind.__module__, kind.__qualname__) == ("gradtape.core.tensor", "Tensor")
    with standing_in("torch"):
        assert kind.__name__ == "Tensor"


def test_kinds_of_arrays_that_are_registered_are_numbers() -> None:
    """An array with ufuncs of its own joins in if its kind is registered, by either of autograd's two ways."""
    scale = onp.array([3.0, 4.0]).view(Named)
    kinds = [type(name, (Named,), {"__array_ufunc__": Named.__array_ufunc__}) for name in ("One", "Other")]
    getattr(ArrayBox, "register")(kinds[0])  # noqa: B009
    getattr(ArrayBox, "type_mappings")[kinds[1]] = ArrayBox  # noqa: B009
    for kind in kinds:
        known = scale.view(kind)
        onp.testing.assert_array_equal(elementwise_grad(lambda x, known=known: x * known)(onp.ones(2)), [3.0, 4.0])
        onp.testing.assert_array_equal(elementwise_grad(lambda x, known=known: known * x)(onp.ones(2)), [3.0, 4.0])
        assert type(known * 2.0) is Named
    with pytest.raises(TypeError, match="str is no kind of array"):
        getattr(ArrayBox, "type_mappings")[str] = ArrayBox  # noqa: B009


def test_the_cotangent_of_a_list_may_be_an_array() -> None:
    """A rule answers for a list of numbers with an array, and for a tuple with a list, as autograd lets it."""

    @primitive
    def weighted(numbers: Any) -> Any:
        first, rest = numbers
        return first[0] + 2 * first[1] + 3 * rest

    defvjp(weighted, lambda ans, numbers: lambda g: [g * onp.array([1.0, 2.0]), g * 3.0])
    a, b, c = grad(lambda xs: weighted(([xs[0], xs[1]], xs[2])))([1.0, 1.0, 1.0])
    assert [float(a), float(b), float(c)] == [1.0, 2.0, 3.0]


def test_the_tangent_of_a_named_tuple_may_be_a_tuple() -> None:
    """A forward rule for a function with several results answers with a plain tuple, as autograd lets it."""

    @primitive
    def halves(x: Any) -> Any:
        return Halves(x[:1], x[1:])

    defjvp(halves, lambda g, ans, x: (g[:1], g[1:]))
    assert make_jvp(lambda x: halves(x).right * 3.0)(onp.ones(2))(onp.array([1.0, 2.0]))[1] == 6.0
    assert grad(lambda x: np.sum(halves(x).right * 3.0))(onp.ones(2)).tolist() == [0.0, 3.0]


def test_a_function_of_numpys_with_a_forward_rule_keeps_its_own_way_back() -> None:
    """Only forwards the rule replaces what was there, even if it is written with the function itself."""
    defjvp(np.linalg.solve, None, "same")
    try:
        a, b = onp.array([[2.0, 1.0], [0.0, 4.0]]), onp.array([1.0, 2.0])
        gradient = grad(lambda a, b: np.sum(np.linalg.solve(a, b)), argnum=1)(a, b)
        onp.testing.assert_allclose(gradient, onp.linalg.solve(a.T, onp.ones(2)))
        tangent = make_jvp(lambda b: np.linalg.solve(a, b))(b)(onp.ones(2))[1]
        onp.testing.assert_allclose(tangent, onp.linalg.solve(a, onp.ones(2)))
    finally:
        del primitive_jvps[np.linalg.solve]


def test_helpers_beside_numpys_names() -> None:
    """`linalg.T` exchanges the last two axes, of traced stacks of matrices too."""
    x = onp.arange(12.0).reshape(2, 2, 3)
    gradient = grad(lambda x: np.sum(np.linalg._dot(np.linalg.T(x), x)))(x)
    onp.testing.assert_allclose(gradient, 2 * onp.broadcast_to(x.sum(-1, keepdims=True), x.shape))


def test_values_of_a_dict_are_stacked() -> None:
    """What can only be gone through is joined like a list."""
    parts = {"a": onp.ones(2), "b": onp.zeros(2)}
    assert np.stack(parts.values()).shape == (2, 2)
    assert grad(lambda x: np.sum(np.hstack({"a": x, "b": x * 2}.values())))(1.0) == 3.0


def test_writing_into_the_argument_is_a_type_error() -> None:
    """Assignment to the argument raises the class of exception that autograd's users catch."""

    def write(x: Any) -> Any:
        x[0] = 1.0
        return np.sum(x)

    with pytest.raises(TypeError, match="leaf that gradients are asked for"):
        grad(write)(onp.ones(2))


JOINS = ["stack", "hstack", "vstack", "row_stack", "column_stack", "dstack", "concatenate"]


@pytest.mark.parametrize("name", JOINS)
def test_joins_of_nested_sequences_keep_the_gradient(name: str) -> None:
    """Nested lists and tuples with traced numbers in them are arrays to every function that joins arrays."""
    join, x = getattr(np, name), onp.array([1.0, 2.0, 3.0])
    nested = jacobian(lambda x: join([[x[0], x[1]], (x[2], 1.0)]).ravel())(x)
    arrays = jacobian(lambda x: join([x[:2], np.array([x[2], 1.0])]).ravel())(x)
    onp.testing.assert_array_equal(nested, arrays)
    assert onp.count_nonzero(nested) == 3
    assert join([[1.0, 2.0], (3.0, 4.0)]).tolist() == getattr(onp, name.replace("row_", "v"))([[1, 2], [3, 4]]).tolist()


def written(operator: str) -> Any:
    """A function that writes `a op= x` with a plain array `a`, and keeps another name of it."""
    namespace: dict[str, Any] = {"np": onp}
    exec(
        "def f(x):\n    a = b = np.full(3, 2.0)\n"
        f"    a {operator}= x\n    assert b.tolist() == [2.0, 2.0, 2.0]\n    return (a * a).sum()\n",
        namespace,
    )
    return namespace["f"]


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "**"])
def test_an_operator_in_place_gives_a_box_to_the_name_of_a_plain_array(operator: str) -> None:
    """`a += x` is `a = a + x` if `a` is plain and `x` traced, as in autograd 1.8; the array itself is not written."""
    x = onp.array([1.0, 2.0, 3.0])
    plain = grad(lambda x: (eval(f"a {operator} x", {"a": onp.full(3, 2.0), "x": x}) ** 2).sum())(x)
    onp.testing.assert_allclose(grad(written(operator))(x), plain)


def test_products_of_matrices_and_scalars_in_place_give_a_box_to_the_name() -> None:
    """`@=` with matrices, and arrays without axes or of integers."""

    def product(x: Any) -> Any:
        a = onp.eye(3)
        a @= np.outer(x, x)
        total = onp.zeros(())
        total += a.sum()
        count = onp.ones(3, int)
        count += x
        return total + count.sum()

    x = onp.array([1.0, 2.0, 3.0])
    onp.testing.assert_allclose(grad(product)(x), 2 * x.sum() + onp.ones(3))


def test_elements_of_a_plain_array_are_still_refused() -> None:
    """`a[0] += x` would have to be stored in the array, and out= names the array: both are errors, inside and out."""

    def of_rows(x: Any) -> Any:
        a = onp.ones((2, 3))
        a[0] += x
        return a.sum()

    def out(x: Any) -> Any:
        a = onp.ones(3)
        return onp.add(a, x, out=a).sum()

    for function in (of_rows, out):
        with pytest.raises(TypeError, match=r"would be written into .*plain array"):
            grad(function)(onp.ones(3))
    a = onp.ones(3)
    with gt.GradientTape() as tape:
        x = tape.watch(onp.ones(3))
        with pytest.raises(gt.DetachError):
            a += x
