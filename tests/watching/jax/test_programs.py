"""What is found in programs for JAX, and what stays silent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

# mypy: disable-error-code="untyped-decorator"

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
import gradtape as gt  # noqa: E402
from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402
from gradtape.watching.jax.recorder import Program  # noqa: E402

X = jnp.linspace(-1.0, 1.0, 24).reshape(8, 3)
Y = jnp.arange(8.0)


@pytest.fixture(autouse=True)
def _raise_our_own_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADTAPE_WATCH_DEBUG", "1")


def found_in(program: Callable[[], Any]) -> list[Problem]:
    """What is reported while a program is watched; the error that it raises is explained, and passes no further."""
    found: list[Problem] = []
    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with watch("jax", tell=lambda note: None):
                program()
        except Exception as error:
            if not hasattr(error, "problem"):
                raise
            found.append(error.problem)
    return found


def broadcast_in_a_compiled_loss() -> None:
    loss = jax.jit(lambda w: jnp.mean((X @ w - Y) ** 2))
    jax.grad(loss)(jnp.ones((3, 1)))


def one_prediction_for_three_targets() -> None:
    def loss(w: Any) -> Any:
        return jnp.mean((jnp.tanh(X @ w) - X) ** 2)

    jax.grad(loss)(jnp.ones((3, 1)))


def compiled_logarithm_of_zero() -> None:
    jax.jit(jax.value_and_grad(lambda w: jnp.sum(jnp.log(w * X[:, 0] + 1.0))))(jnp.float32(1.0))


def constants_divided_by_zero() -> None:
    def standardise(table: Any) -> Any:
        return (table - table.mean(axis=0)) / table.std(axis=0)

    constant = jnp.zeros((7, 3))
    jax.grad(lambda w: jnp.mean((standardise(constant) @ w - Y[:7]) ** 2))(jnp.zeros(3))


def mean_of_the_examples_as_the_prediction() -> None:
    def predict(scale: Any) -> Any:
        return jnp.mean(scale * X[:, 0], keepdims=True)

    jax.grad(lambda scale: jnp.mean((predict(scale) - Y) ** 2))(0.5)


def branch_that_where_does_not_take() -> None:
    jax.grad(lambda w: jnp.sum(jnp.where(w > 0, jnp.sqrt(w), 0.0)))(jnp.zeros(2))


def rounded_weights() -> None:
    jax.grad(lambda w: jnp.sum(jnp.round(w) ** 2))(jnp.ones(2))


def stopped_prediction() -> None:
    jax.jit(jax.grad(lambda w: jnp.mean((jax.lax.stop_gradient(X @ w) - Y) ** 2)))(jnp.ones(3))


def bias_that_is_not_used() -> None:
    jax.grad(lambda p: jnp.mean((X @ p["w"] - Y) ** 2))({"w": jnp.ones(3), "b": jnp.zeros(())})


def dead_units() -> None:
    def loss(w: Any) -> Any:
        return jnp.mean((jax.nn.relu((X - 5.0) @ w) @ jnp.ones((4, 1)) - X[:, :1]) ** 2)

    jax.grad(loss)(jnp.ones((3, 4)))


def equal_units() -> None:
    def loss(p: Any) -> Any:
        return jnp.mean((jnp.tanh(X @ p[0]) @ p[1] - X[:, :1]) ** 2)

    jax.jit(jax.grad(loss))([jnp.full((3, 4), 0.1), jnp.full((4, 1), 0.1)])


def softmax_over_the_examples() -> None:
    labels = jnp.array([0, 1, 2, 1, 1, 0, 2, 2])

    def loss(w: Any) -> Any:
        return -jnp.mean(jax.nn.log_softmax(X @ w, axis=0)[jnp.arange(8), labels])

    jax.jit(jax.grad(loss))(jnp.eye(3))


def softmax_twice() -> None:
    def loss(w: Any) -> Any:
        p = jax.nn.softmax(X @ w)
        return -jnp.mean(jax.nn.log_softmax(p)[:, 0])

    jax.grad(loss)(jnp.eye(3))


def logsumexp_of_probabilities_step_by_step() -> None:
    def loss(w: Any) -> Any:
        p = jax.nn.softmax(X @ w)
        shifted = p - jax.lax.stop_gradient(p.max(axis=1, keepdims=True))
        return jnp.mean(jnp.log(jnp.sum(jnp.exp(shifted), axis=1)) - shifted[:, 0])

    jax.grad(loss)(jnp.eye(3))


def rule_with_a_wrong_value() -> None:
    @jax.custom_vjp
    def cube(x: Any) -> Any:
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, g: (g * x**2,))
    jax.jit(jax.grad(lambda x: jnp.sum(cube(x))))(jnp.ones(3))


def rule_for_one_of_two_arguments() -> None:
    @jax.custom_vjp
    def product(x: Any, y: Any) -> Any:
        return x * y

    product.defvjp(lambda x, y: (x * y, y), lambda y, g: (g * y,))
    jax.grad(lambda x: jnp.sum(product(x, x)))(jnp.ones(3))


def product_that_does_not_fit() -> None:
    jax.grad(lambda w: jnp.sum(X @ w))(jnp.ones((2, 3)))


def sum_that_does_not_fit() -> None:
    jax.grad(lambda w: jnp.sum(X + w))(jnp.ones(5))


def branch_on_a_tracer() -> None:
    jax.jit(lambda x: x if x > 0 else -x)(1.0)


def number_of_a_tracer() -> None:
    jax.grad(lambda x: x * float(x))(1.0)


def write_in_place() -> None:
    x = jnp.zeros(3)
    x[0] = 1.0


def vector_for_a_loss() -> None:
    jax.grad(lambda w: X @ w)(jnp.ones(3))


def integer_argument() -> None:
    jax.grad(lambda x: x**2)(3)


def seed_of_another_shape() -> None:
    jax.vjp(jnp.sin, jnp.ones(3))[1](jnp.ones(4))


def kept_tracer() -> None:
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        kept.append(x * 2)
        return x

    jax.jit(keep)(1.0)
    kept[0] += 1


FAULTY = {
    broadcast_in_a_compiled_loss: ("GT101",),
    one_prediction_for_three_targets: ("GT102",),
    compiled_logarithm_of_zero: ("GT401",),
    mean_of_the_examples_as_the_prediction: ("GT102",),
    branch_that_where_does_not_take: ("GT403",),
    rounded_weights: ("GT201", "GT209"),
    stopped_prediction: ("GT201", "GT208"),
    bias_that_is_not_used: ("GT201", "GT202"),
    dead_units: ("GT404",),
    equal_units: ("GT514",),
    softmax_over_the_examples: ("GT501",),
    softmax_twice: ("GT509",),
    logsumexp_of_probabilities_step_by_step: ("GT509",),
    rule_with_a_wrong_value: ("GT320",),
    rule_for_one_of_two_arguments: ("GT304",),
    product_that_does_not_fit: ("GT111",),
    sum_that_does_not_fit: ("GT110",),
    branch_on_a_tracer: ("GT210",),
    number_of_a_tracer: ("GT210",),
    write_in_place: ("GT309",),
    vector_for_a_loss: ("GT307",),
    integer_argument: ("GT310",),
    seed_of_another_shape: ("GT301",),
    kept_tracer: ("GT211",),
}


@pytest.mark.parametrize("program", FAULTY, ids=lambda program: program.__name__)
def test_the_cause_is_named(program: Callable[[], Any]) -> None:
    """The first thing that is found is the mistake, in a line of the program."""
    found = found_in(program)
    assert found
    assert found[0].codes == FAULTY[program]
    assert found[0].main is not None
    assert found[0].main.file == __file__


def test_an_operation_on_constants_that_made_nan_is_shown() -> None:
    """The division is shown, not the place where its result is used."""
    found = found_in(constants_divided_by_zero)
    assert found[0].code == "GT401"
    assert "table.std(axis=0) is 0" in found[0].title


def clipped_gradients() -> None:
    @jax.custom_vjp
    def clip(x: Any) -> Any:
        return x

    clip.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1.0, 1.0),))
    jax.grad(lambda x: jnp.sum(clip(x) ** 2))(jnp.ones(3))


def straight_through() -> None:
    jax.grad(lambda w: jnp.sum((w + jax.lax.stop_gradient(jnp.round(w) - w)) ** 2))(jnp.ones(3) * 0.7)


def gram_matrix() -> None:
    jax.grad(lambda s: jnp.sum(jnp.exp(-((Y[:, None] - Y) ** 2) / s)))(2.0)


def attention_with_a_mask() -> None:
    def loss(w: Any) -> Any:
        scores = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), (X @ w) @ X.T, -jnp.inf)
        return jnp.sum(jax.nn.softmax(scores, axis=-1) @ X)

    jax.jit(jax.grad(loss))(jnp.eye(3))


def frozen_target() -> None:
    def loss(p: Any) -> Any:
        return jnp.mean((X @ p["fast"] - jax.lax.stop_gradient(X @ p["slow"])) ** 2)

    jax.grad(loss)({"fast": jnp.ones(3), "slow": jnp.zeros(3)})


@pytest.mark.parametrize(
    "program",
    [clipped_gradients, straight_through, gram_matrix, attention_with_a_mask, frozen_target],
    ids=lambda program: program.__name__,
)
def test_what_is_meant_stays_silent(program: Callable[[], Any]) -> None:
    """No warning for what correct programs do."""
    assert found_in(program) == []


def test_the_explanation_is_a_note_of_the_error() -> None:
    """The error stays JAX's own, with the explanation below it."""
    with pytest.raises(TypeError, match="real- or complex-valued") as raised, watch("jax"):
        integer_argument()
    assert raised.value.__notes__[-1].startswith("[GT310]")


def test_a_failure_of_ours_leaves_the_program_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """If recording fails, the program goes on, and is not watched any more."""
    monkeypatch.delenv("GRADTAPE_WATCH_DEBUG")
    monkeypatch.setattr("gradtape.watching.jax.recorder.describe", lambda *given: 1 / 0)
    with watch("jax") as watching:
        assert float(jax.grad(lambda x: jnp.sin(x) * x)(0.0)) == 0.0
        assert not watching.watchers["jax"].is_working  # type: ignore[attr-defined]


def test_a_loss_that_becomes_nan_after_the_budget_is_explained() -> None:
    """A compiled step is judged again with the arguments that gave NaN."""

    def step(w: Any) -> Any:
        value, gradient = jax.value_and_grad(lambda w: jnp.sum(jnp.log(w)))(w)
        return w - 0.3 * gradient, value

    found: list[Problem] = []
    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watch("jax", steps=1, seconds=0.0):
            compiled = jax.jit(step)
            w = jnp.array([2.0, 3.0])
            for _ in range(30):
                w, _ = compiled(w)
    assert [problem.code for problem in found] == ["GT401"]
    assert "jnp.log(w)" in found[0].title


def test_a_compiled_step_is_evaluated_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its first calls a compiled function runs by itself, also if it is the only one that takes a gradient."""
    evaluated: list[Any] = []
    original = Program.evaluate

    def evaluate(program: Program, arguments: Any) -> None:
        evaluated.append(program)
        original(program, arguments)

    monkeypatch.setattr(Program, "evaluate", evaluate)
    with watch("jax"):
        step = jax.jit(lambda w: w - 0.1 * jax.grad(lambda w: jnp.sum(w**2))(w))
        w = jnp.ones(3)
        for _ in range(60):
            w = step(w)
    assert 3 <= len(evaluated) <= 12


def test_a_function_that_is_compiled_late_is_explained() -> None:
    """What is traced for the first time when the budget is spent is recorded and judged once."""
    found: list[Problem] = []
    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watch("jax", steps=1, seconds=0.0):
            first = jax.jit(lambda w: w - 0.1 * jax.grad(lambda w: jnp.sum(w**2))(w))
            w = jnp.ones((3, 1))
            for _ in range(5):
                w = first(w)
            x, targets = jnp.ones((4, 3)), jnp.arange(4.0)
            second = jax.jit(lambda w: jax.grad(lambda w: jnp.mean((x @ w - targets) ** 2))(w))
            second(w)
    assert [problem.code for problem in found] == ["GT101"]


def test_choice_of_branches_is_no_condition_number() -> None:
    """`lax.cond` has the name of an operation without a derivative in gradtape's table, which may be loaded or not."""
    from gradtape.watching.jax.operations import CONSTANT, kind_of

    gt.linalg.cond  # noqa: B018 (loads the operation)
    assert "cond" not in CONSTANT
    assert kind_of("cond") == ""
