"""The conventions of autograd that its stand-in keeps, and the mistakes that it explains."""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import Any

import numpy as onp
import pytest

import gradtape as gt
import gradtape_standins.autograd.numpy as np
from gradtape_standins import autograd
from gradtape_standins.autograd import (
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    holomorphic_grad,
    jacobian,
    make_vjp,
    multigrad_dict,
    value_and_grad,
)
from gradtape_standins.autograd.builtins import DictBox, SequenceBox
from gradtape_standins.autograd.core import VJPNode, backward_pass, make_jvp
from gradtape_standins.autograd.extend import (
    Box,
    JVPNode,
    SparseObject,
    def_linear,
    defjvp,
    defvjp,
    defvjp_argnums,
    notrace_primitive,
    primitive,
    register_notrace,
    vspace,
)
from gradtape_standins.autograd.misc import const_graph, flatten
from gradtape_standins.autograd.misc.tracers import full_graph
from gradtape_standins.autograd.numpy.numpy_vjps import unbroadcast_f
from gradtape_standins.autograd.scipy import linalg as slinalg
from gradtape_standins.autograd.scipy import special
from gradtape_standins.autograd.test_util import check_grads, combo_check
from gradtape_standins.autograd.tracer import Node, getval, isbox, new_box, trace

X = onp.array([0.5, 1.0, 1.5])

# -- conventions


def test_results_are_plain() -> None:
    """What comes out of a derivative is an array or a number, never a tensor."""
    value, gradient = value_and_grad(lambda x: np.sum(x**2))(X)
    assert (type(value), type(gradient)) == (onp.float64, onp.ndarray)
    assert type(hessian(lambda x: np.sum(x**3))(X)) is onp.ndarray
    assert type(make_vjp(np.sin)(X)[1]) is onp.ndarray
    assert type(make_jvp(np.sin, X)(X)[1]) is onp.ndarray
    assert type(grad_and_aux(lambda x: (np.sum(x), {"twice": 2 * x}))(X)[1]["twice"]) is onp.ndarray


def test_functions_of_plain_arrays_are_numpys() -> None:
    """Outside of a derivative `autograd.numpy` returns what NumPy returns."""
    assert type(np.sin(X)) is onp.ndarray
    assert type(np.array([1.0, 2.0])) is onp.ndarray
    assert type(np.linalg.eigh(onp.eye(2))[0]) is onp.ndarray
    assert np.zeros((2, 3)).shape == (2, 3)
    assert np.float64 is onp.float64
    assert np.pi == onp.pi


def test_what_cannot_be_differentiated_is_plain_inside() -> None:
    """Positions, signs and truth values of a traced array are plain arrays."""
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.extend([np.argmax(x), np.sign(x), np.shape(x), np.greater(x, 1.0), np.zeros_like(x), np.sin(x)])
        return np.sum(x)

    grad(f)(X)
    assert not any(isinstance(value, gt.Tensor) for value in seen[:-1])
    assert isinstance(seen[-1], gt.Tensor)


def test_an_unused_argument_has_zeros() -> None:
    """Zeros, not None, and no warning, for a part of the argument that is not used."""
    gradient = grad(lambda p: np.sum(p["a"]))({"a": X, "b": onp.ones((2, 2))})
    onp.testing.assert_array_equal(gradient["b"], onp.zeros((2, 2)))


def test_independence_is_warned_of_in_autograds_words() -> None:
    """A function that does not use its argument at all: zeros and a UserWarning, with the reason below it."""
    with pytest.warns(UserWarning, match="Output seems independent of input") as caught:
        onp.testing.assert_array_equal(grad(lambda x: 3.0)(X), onp.zeros(3))
    assert len(str(caught[0].message).splitlines()) > 1
    assert caught[0].filename == __file__


def test_gradients_have_the_structure_of_the_argument() -> None:
    """Lists, tuples, named tuples and dictionaries come back as what they are."""
    Pair = namedtuple("Pair", "left right")
    gradient = grad(lambda p: np.sum(p.left * p.right[0]["w"]))(Pair(X, [{"w": 2.0}, (1.0,)]))
    assert type(gradient) is Pair
    onp.testing.assert_array_equal(gradient.left, [2.0, 2.0, 2.0])
    assert gradient.right[0]["w"] == 3.0
    assert type(gradient.right[1]) is tuple


def test_complex_gradients_are_the_conjugates_of_gradtapes() -> None:
    """The gradient of |z|^2 is 2 conj(z), and a holomorphic derivative is the one of complex analysis."""
    z = 1.0 + 2.0j
    assert grad(lambda z: np.abs(z) ** 2)(z) == pytest.approx(2 * z.conjugate())
    assert gt.grad(lambda z: np.abs(z) ** 2)(z) == pytest.approx(2 * z)
    assert holomorphic_grad(np.exp)(z) == pytest.approx(onp.exp(z))
    assert jacobian(lambda z: np.real(z * 1j))(onp.array([z]))[0, 0] == pytest.approx(1j)


def test_custom_rules_are_in_the_same_convention() -> None:
    """A rule of one's own for a complex function is given and gives autograd's cotangents."""
    square = primitive(lambda z: z**2)
    defvjp(square, lambda ans, z: lambda g: g * 2 * z)
    z = 0.5 - 1.5j
    assert holomorphic_grad(square)(z) == pytest.approx(2 * z)


def test_eigh_reads_one_triangle() -> None:
    """The gradient of `eigh` is that of the triangle it reads, as autograd has it."""
    matrix = onp.array([[2.0, 0.3], [0.3, 1.0]])
    lower = grad(lambda a: np.sum(np.linalg.eigh(a)[0] ** 2))(matrix)
    onp.testing.assert_allclose(lower, [[4.0, 0.0], [1.2, 2.0]])
    upper = grad(lambda a: np.sum(np.linalg.eigh(a, "U")[0] ** 2))(matrix)
    onp.testing.assert_allclose(upper, lower.T)


def test_names_say_what_a_function_is() -> None:
    """What `grad` returns has autograd's name for it."""
    assert grad(np.tanh, 0).__name__ == "grad_of_tanh_wrt_argnum_0"


def test_iterators_and_lists_of_traced_values() -> None:
    """Functions that take arrays also take lists of traced numbers; those that join take iterators."""
    assert grad(lambda x: np.sum([x, x**2]))(3.0) == 7.0
    assert grad(lambda x: np.linalg.norm([3.0 * x, 4.0 * x]))(1.0) == pytest.approx(5.0)
    onp.testing.assert_array_equal(grad(lambda x: np.sum(np.stack(map(np.square, x))))(X), 2 * X)
    onp.testing.assert_array_equal(grad(lambda x: np.sum(np.full((2, 2), x[0])))(X), [4.0, 0.0, 0.0])


def test_arrays_of_objects_stay_traced() -> None:
    """`dtype=object`, by which people collect boxes, loses no gradient."""
    collected = lambda x: np.array(np.array([x, 2 * x], dtype=object).ravel(), dtype=float)
    assert grad(lambda x: np.sum(collected(x)) + x)(3.0) == 4.0


def test_integers_end_the_gradient() -> None:
    """`np.int64(x)` of a traced value is a plain integer, and the type is NumPy's for all other purposes."""
    assert grad(lambda x: x[np.int64(x[0])] ** 2)(onp.array([2.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 6.0]
    assert np.zeros(2, dtype=np.int64).dtype == onp.int64
    assert isinstance(onp.int64(3), np.int64)
    assert type(np.int32(3)) is onp.int32


def test_where_keeps_python_numbers() -> None:
    """`np.where` of Python's own numbers gives one, takes keywords, and is followed where something is traced."""
    assert type(np.where(True, 1.0, 2.0)) is float
    assert np.where([True, False], [1, 2], [3, 4]) == [1, 4]
    assert np.where(condition=X > 0.7, x=X, y=0.0).tolist() == [0.0, 1.0, 1.5]
    assert grad(lambda x: np.sum(np.where(X > 0.7, [x, 2 * x, 3 * x], 0.0)))(1.0) == 5.0
    assert np.where(X > 0.7)[0].tolist() == [1, 2]


def test_joining_by_brackets() -> None:
    """`np.r_` and `np.c_` follow traced entries, with slices and directives."""
    onp.testing.assert_array_equal(grad(lambda x: np.sum(np.r_[x, 0:2, x] * onp.arange(8.0)))(X), [5.0, 7.0, 9.0])
    onp.testing.assert_array_equal(grad(lambda x: np.sum(np.c_[x, 2 * x] @ onp.ones(2)))(X), [3.0, 3.0, 3.0])
    assert np.r_[1:3].tolist() == [1, 2]
    columns = grad(lambda x: np.sum(np.r_["1,2,0", x, x] * onp.array([1.0, 10.0])))(X)
    onp.testing.assert_array_equal(columns, [11.0, 11.0, 11.0])


def test_multigrad_dict_has_every_argument() -> None:
    """Defaults, and arguments by keyword, have gradients too."""
    assert {k: float(v) for k, v in multigrad_dict(lambda x, y=2.0: x * y)(3.0).items()} == {"x": 2.0, "y": 3.0}


# -- primitives


def test_primitive_is_given_plain_arrays() -> None:
    """The function behind a primitive sees arrays and numbers, in every order of derivative."""
    seen: set[str] = set()

    @primitive
    def cube(x: Any) -> Any:
        seen.add(type(x).__name__)
        return x**3

    defvjp(cube, lambda ans, x: lambda g: 3 * g * x**2)
    assert grad(grad(cube))(2.0) == 12.0
    assert jacobian(cube)(X).shape == (3, 3)
    assert seen <= {"ndarray", "float64", "float"}


def test_primitive_may_use_functions_that_know_nothing_of_tensors() -> None:
    """Rules that write into arrays work, also where a Jacobian asks for many cotangents."""

    @primitive
    def running(x: Any) -> Any:
        out = onp.empty_like(x)
        total = 0.0
        for i, value in enumerate(x):
            total += value
            out[i] = total
        return out

    def rule(ans: Any, x: Any) -> Any:
        def pull(g: Any) -> Any:
            back = onp.zeros(len(x))
            for i in range(len(x)):
                back[i] = float(onp.asarray(g)[i:].sum())
            return back

        return pull

    defvjp(running, rule)
    onp.testing.assert_array_equal(jacobian(running)(X), onp.tril(onp.ones((3, 3))))


def test_primitive_with_containers() -> None:
    """An argument that is a container is one argument, and its cotangent has its structure."""

    @primitive
    def total(parameters: Any, scale: float) -> Any:
        return scale * (parameters["a"].sum() + 2 * parameters["b"][0])

    defvjp(total, lambda ans, p, scale: lambda g: {"a": g * scale * onp.ones(3), "b": [2 * g * scale]})
    gradient = grad(lambda p: total(p, 3.0))({"a": X, "b": [1.0]})
    onp.testing.assert_array_equal(gradient["a"], [3.0, 3.0, 3.0])
    assert gradient["b"][0] == 6.0


def test_primitive_as_a_method_and_with_keywords() -> None:
    """A primitive in a class is a method, and keywords reach the rule."""

    class Scaler:
        factor = 4.0

        @primitive
        def scaled(self, x: Any, *, power: int = 1) -> Any:
            return self.factor * x**power

    defvjp(Scaler.scaled, None, lambda ans, self, x, power=1: lambda g: g * self.factor * power * x ** (power - 1))
    assert grad(lambda x: Scaler().scaled(x, power=2))(3.0) == 24.0


def test_forward_rules() -> None:
    """`defjvp` is used forwards, "same" and `def_linear` stand for the function itself, and reverse is derived."""
    double = primitive(lambda x: 2 * x)
    def_linear(double)
    assert make_jvp(double, 3.0)(5.0)[1] == 10.0
    with pytest.raises(NotImplementedError, match="forwards it is its own rule"):
        grad(double)(3.0)
    weigh = primitive(lambda a, x: a * x)
    defjvp(weigh, "same", lambda g, ans, a, x: a * g)
    assert make_jvp(lambda x: weigh(x, x), 3.0)(1.0)[1] == 6.0
    cube = primitive(lambda x: x**3)
    defjvp(cube, lambda g, ans, x: 3 * x**2 * g)
    assert grad(cube)(2.0) == 12.0


def test_sparse_cotangents() -> None:
    """A rule may return a SparseObject."""
    first = primitive(lambda x: x[0])

    def rule(ans: Any, x: Any) -> Any:
        def at_first(array: Any, g: Any) -> Any:
            array[0] += g
            return array

        return lambda g: SparseObject(vspace(x), lambda array: at_first(array, g))

    defvjp(first, rule)
    onp.testing.assert_array_equal(grad(lambda x: first(x) ** 2)(X), [1.0, 0.0, 0.0])


def test_no_gradient_goes_through_what_is_not_traced() -> None:
    """`notrace_primitive` and `register_notrace` give constants."""
    rounded = notrace_primitive(onp.round)
    assert grad(lambda x: x * rounded(x))(1.7) == 2.0
    counted = primitive(lambda x: onp.floor(x))
    register_notrace(VJPNode, counted)
    register_notrace(JVPNode, counted)
    assert grad(lambda x: x * counted(x))(1.7) == 1.0


def test_rules_of_numpy_functions_can_be_replaced() -> None:
    """A rule that is given to a function of `autograd.numpy` is used instead of gradtape's."""
    from gradtape_standins.autograd.primitives import primitive_vjps

    defvjp(np.arctan, lambda ans, x: lambda g: 100 * g)
    try:
        assert grad(np.arctan)(0.0) == 100.0
    finally:
        del primitive_vjps[np.arctan]
    assert grad(np.arctan)(0.0) == 1.0


def test_rules_for_all_arguments_at_once() -> None:
    """`defvjp_argnums` is asked for the arguments that are traced, and for no other."""
    asked: list[Any] = []
    product = primitive(lambda *factors: onp.prod(factors))

    def rule(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        asked.append(argnums)
        return lambda g: [g * ans / args[n] for n in argnums]

    defvjp_argnums(product, rule)
    assert [float(g) for g in grad(lambda x, y: product(2.0, x, y), (0, 1))(3.0, 4.0)] == [8.0, 6.0]
    assert asked == [(1, 2)]


def test_unbroadcast_in_rules() -> None:
    """`unbroadcast_f` sums a cotangent to the shape of the argument it belongs to."""
    add = primitive(lambda x, y: x + y)
    defvjp(add, lambda ans, x, y: unbroadcast_f(x, lambda g: g), lambda ans, x, y: unbroadcast_f(y, lambda g: g))
    left, right = grad(lambda x, y: np.sum(add(x, y)), (0, 1))(2.0, onp.ones((4, 3)))
    assert (float(left), right.shape) == (12.0, (4, 3))


# -- spaces, boxes, graphs


def test_vector_spaces() -> None:
    """Zeros, ones, sizes and bases of arrays and of structures."""
    space = vspace({"a": X, "b": (1.0, 1j)})
    assert space.size == 6
    assert space == vspace({"a": X + 1, "b": (2.0, 3j)})
    assert len(list(space.standard_basis())) == 6
    assert space.ones()["b"][1] == 1 + 1j
    assert space.inner_prod(space.ones(), space.ones()) == 3 + 1 + 2
    assert vspace(1.0) != vspace(X)


def test_boxes() -> None:
    """Traced values are boxes, containers of them count as boxes, and plain ones do not."""
    seen: list[Any] = []

    def f(p: Any) -> Any:
        x = p[0]
        seen.extend([isbox(x), isinstance(x, Box), type(getval(x)), x._value.shape, isinstance(p, SequenceBox)])
        seen.append(isinstance({"x": x}, DictBox))
        return np.sum(x)

    grad(f)([X])
    assert seen == [True, True, onp.ndarray, (3,), True, True]
    assert not isbox(X)
    assert not isinstance([X], SequenceBox)


def test_nodes_of_ones_own() -> None:
    """`trace` makes a node of the given class for every operation, with the numbers of the traced arguments."""

    class NameNode(Node):
        def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any) -> None:
            self.text = f"{fun.__name__}({', '.join(parent.text for parent in parents)})"
            self.value = value

        def initialize_root(self) -> None:
            self.text = "x"

    value, node = trace(NameNode.new_root(), lambda x: np.sum(np.sin(x) * x), X)
    assert node.text == "sum(multiply(sin(x), x))"
    assert node.value == value == pytest.approx(onp.sum(onp.sin(X) * X))
    node = full_graph(lambda x, y: x / np.exp(y), 2.0, 1.0)
    assert node.value == pytest.approx(2 / onp.e)
    assert [number for number, _ in node.recipe[3]] == [0, 1]


def test_backward_pass_from_a_traced_node() -> None:
    """`trace` with a VJPNode and `backward_pass` are the two halves of a gradient."""
    value, node = trace(VJPNode.new_root(), lambda x: np.sum(x**2), X)
    assert value == onp.sum(X**2)
    onp.testing.assert_array_equal(backward_pass(1.0, node), 2 * X)
    assert trace(JVPNode.new_root(onp.ones(3)), lambda x: x**2, X)[1].g.tolist() == (2 * X).tolist()


def test_boxes_opened_by_hand() -> None:
    """`new_box` with a VJPNode, and `backward_pass` from the node of what was made of it, for one output and more."""
    box = new_box(X, 0, VJPNode.new_root())
    out = np.stack([np.sum(box**2), box[0] * box[1]])
    rows = [backward_pass(unit, out._node) for unit in onp.eye(2)]
    onp.testing.assert_array_equal(rows, [2 * X, [X[1], X[0], 0.0]])
    again = backward_pass(new_box(onp.ones(2), 0, VJPNode.new_root()), out._node)
    assert isbox(again)
    with pytest.raises(NotImplementedError, match="boxes of other kinds"):
        new_box(X, 0, JVPNode.new_root(X))


def test_const_graph_runs_again() -> None:
    """What `const_graph` returns gives the same numbers in the first and in later calls, and differentiates."""
    f = const_graph(lambda a, x: np.sum(a * np.sin(x)), 2.0)
    assert f(X) == pytest.approx(2 * onp.sum(onp.sin(X)))
    assert f(X + 1) == pytest.approx(2 * onp.sum(onp.sin(X + 1)))
    onp.testing.assert_allclose(grad(f)(X), 2 * onp.cos(X))


def test_flatten_sorts_keys_and_can_be_differentiated() -> None:
    """The vector has dictionaries in the order of their keys, and gradients go through both directions."""
    vector, unflatten = flatten({"b": X, "a": [1.0, (onp.eye(2),)]})
    assert vector.tolist() == [1.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.5]
    gradient = grad(lambda v: np.sum(unflatten(v)["a"][1][0] ** 2))(vector)
    assert gradient.tolist() == [0.0, 2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    assert flatten([])[0].shape == (0,)
    assert grad(lambda p: np.sum(flatten(p)[0] ** 2))({"w": X})["w"].tolist() == (2 * X).tolist()


# -- SciPy


def test_scipy_linalg() -> None:
    """SciPy's matrix functions are followed, in SciPy's sense of upper and lower."""
    spd = onp.array([[4.0, 1.0], [1.0, 3.0]])
    for function in (slinalg.sqrtm, slinalg.expm, slinalg.cholesky, slinalg.inv):
        check_grads(lambda a, f=function: f(a @ a.T), modes=["rev"], order=1)(spd)
    check_grads(lambda a, b: slinalg.solve_triangular(a, b, lower=True), (0, 1), order=1)(onp.tril(spd), onp.ones(2))
    check_grads(slinalg.solve_sylvester, (0, 1, 2), modes=["rev"], order=1)(spd, 2 * spd, onp.ones((2, 2)))
    bands = onp.array([[0.0, 1.0, 2.0], [5.0, 6.0, 7.0], [1.0, 0.5, 0.0]])
    check_grads(lambda ab, b: slinalg.solve_banded((1, 1), ab, b), (0, 1), modes=["rev"], order=1)(bands, X)
    onp.testing.assert_allclose(
        gt.stop_gradient(slinalg.solve_banded((1, 1), gt.tensor(bands), X)), slinalg.solve_banded((1, 1), bands, X)
    )


@pytest.mark.parametrize("name", ["gammaln", "erfinv", "expit", "i0", "psi", "logit", "multigammaln", "polygamma"])
def test_scipy_special(name: str) -> None:
    """Special functions have gradients, with whole numbers among the arguments left alone."""
    function = getattr(special, name)
    arguments = {"multigammaln": (3.5, 2), "polygamma": (1, 0.7)}.get(name, (0.7,))
    argnum = 1 if name == "polygamma" else 0
    check_grads(function, argnum, modes=["rev"], order=1)(*arguments)


def test_checks_of_combinations() -> None:
    """`combo_check` runs every combination, and finds the one that is wrong."""
    combo_check(np.sum, [0])([X, onp.ones((2, 3))], axis=[None, 0], keepdims=[True, False])
    wrong = primitive(lambda x, power: x**power)
    defvjp(wrong, lambda ans, x, power: lambda g: 2 * g * x, None)
    combo_check(wrong, [0], modes=["rev"], order=1)([X], [2])
    with pytest.raises(AssertionError, match=r"Derivative \(VJP\) check of .* failed"):
        combo_check(wrong, [0], modes=["rev"], order=1)([X], [2, 3])


# -- mistakes


@pytest.mark.parametrize(
    ("mistake", "kind", "said"),
    [
        (lambda: grad(lambda x: 2 * x)(X), TypeError, "a gradient is of one number"),
        (lambda: grad(lambda x: (np.sum(x), x))(X), TypeError, "grad_and_aux"),
        (lambda: grad(lambda x: x * 1j)(1.0), TypeError, "holomorphic_grad"),
        (lambda: elementwise_grad(lambda x: x * 1j)(X), TypeError, r"np\.real"),
        (lambda: jacobian(lambda x: x * 1j)(X), TypeError, r"np\.imag"),
        (lambda: grad(lambda x: x**2)(3), TypeError, "int64"),
        (lambda: grad(lambda x: 1.0)("text"), TypeError, "a tensor holds numbers"),
        (lambda: grad(np.sum, 1)(X), IndexError, "counted from 0"),
        (lambda: grad(np.sum, "x"), TypeError, "grad_named"),
        (lambda: grad_named(lambda x: x, "y"), ValueError, "it has x"),
        (lambda: make_vjp(np.sin)(X)[0](onp.ones(2)), ValueError, "the seed has shape"),
        (lambda: vspace("text"), TypeError, "Can't find vector space"),
        (lambda: defvjp(primitive(lambda x: x), 3), TypeError, "Bad VJP 3"),
        (lambda: defjvp(primitive(lambda x: x), "other"), TypeError, "Bad JVP 'other'"),
        (lambda: grad(primitive(lambda x: x))(1.0), NotImplementedError, "VJP of .* wrt argnums .* not defined"),
        (lambda: np.linalg.eihg, AttributeError, r"autograd\.numpy\.linalg\.eigh"),
        (lambda: autograd.multigrad, AttributeError, r"grad\(fun, \(0, 1"),
        (lambda: SequenceBox.register(int), TypeError, "subclasses of list, tuple"),
        (lambda: Box.register(str), TypeError, "primitive and defvjp"),
    ],
)
def test_mistakes_are_explained(mistake: Any, kind: type[Exception], said: str) -> None:
    """The class of the error is autograd's, and the message says what to do."""
    with pytest.raises(kind, match=said):
        mistake()


def test_a_rule_of_the_wrong_shape_is_blamed() -> None:
    """A cotangent that does not have the shape of its argument is refused, naming the rule."""
    total = primitive(lambda x: x.sum())
    defvjp(total, lambda ans, x: lambda g: g)
    with pytest.raises(gt.RuleError, match=r"returned shape \(\) for argument 0, which has shape \(3,\)"):
        grad(total)(X)


def test_old_methods_of_primitives_warn() -> None:
    """`f.defvjp` and `f.defgrad` of autograd before 1.2 still give a rule, with a warning."""
    cube = autograd.primitive(lambda x: x**3)
    with pytest.warns(UserWarning, match="deprecated"):
        cube.defgrad(lambda ans, x: lambda g: 3 * g * x**2)
    assert grad(cube)(2.0) == 12.0
    with pytest.warns(UserWarning, match="deprecated"):
        cube.defvjp(lambda g, ans, vs, gvs, x: 30 * g * x**2)
    assert grad(cube)(2.0) == 120.0
    with pytest.warns(UserWarning, match="deprecated"):
        cube.defvjp_is_zero()
    assert grad(cube)(2.0) == 0.0


def test_correct_code_is_not_warned_of() -> None:
    """Nothing is said about nested derivatives, constants, branches and structures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grad(lambda x: np.sum(grad(lambda y: np.sum(np.outer(x, y) ** 2))(2 * x)))(X)
        hessian(lambda x: x[0] if x[0] > 0 else x[1])(X)
