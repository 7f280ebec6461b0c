"""Questions about functions of JAX: `gradtape.explain.why`, `gt.audit_batch`, and the report of a step."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

# mypy: disable-error-code="untyped-decorator"

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
import gradtape as gt  # noqa: E402
from gradtape.explain.report.script import Collector  # noqa: E402
from gradtape.watching import watch  # noqa: E402

X = jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)


def loss(p: Any, x: Any) -> Any:
    hidden = jnp.tanh(x @ p["w"] + jax.lax.stop_gradient(p["b"]))
    return jnp.mean(hidden**2)


def test_why_of_a_function_names_the_path_with_the_size_of_the_gradient_or_the_cut() -> None:
    """`why(function, argument)` answers with the path, or with what ends it, for the first array without a gradient."""
    w = jnp.ones((3, 2))
    flows = gt.explain.why(lambda w: loss({"w": w, "b": 0.5}, X), w)
    assert flows.flows
    assert [step.operation for step in flows.path] == ["mean", "power", "tanh", "add", "matmul"]
    assert flows.path[0].gain == pytest.approx(1 / 8)
    stopped = gt.explain.why(loss, ({"w": w, "b": jnp.zeros(2)}, X))
    assert stopped.code == "GT208"
    assert "p['b']" in stopped
    assert gt.explain.why(lambda w: jnp.sum(jnp.round(w)), w).code == "GT209"
    assert gt.explain.why(lambda p: jnp.sum(p["w"]), {"w": w, "u": w}).code == "GT202"
    assert gt.explain.why(lambda w: jnp.sum(jax.nn.relu(w - 5.0)), w).code == "GT404"


def test_why_of_a_compiled_function_sees_inside() -> None:
    """The operations of a function under `jit` are those of the function."""
    compiled = jax.jit(lambda w, scale: jnp.sum(jnp.tanh(w) * scale))
    answer = gt.explain.why(compiled, (jnp.ones(3), 2.0))
    assert [step.operation for step in answer.path] == ["sum", "multiply", "tanh"]


def test_why_of_tracers_answers_inside_a_function_that_is_watched() -> None:
    """While a function is differentiated, its tracers can be asked about."""
    answers: list[Any] = []

    def asking(p: Any) -> Any:
        value = jnp.sum(jnp.tanh(p["w"]) * jax.lax.stop_gradient(p["b"]))
        answers.extend(gt.explain.why(value, p[name]) for name in ("w", "b"))
        return value

    with watch("jax", tell=lambda note: None):
        jax.grad(asking)({"w": jnp.ones(2), "b": jnp.ones(2)})
    assert answers[0].flows
    assert answers[1].code == "GT208"


def test_why_of_an_array_says_what_to_ask_about() -> None:
    """Arrays of JAX do not know what they were computed from."""
    with pytest.raises(gt.OperandError, match=r"why\(loss, params\)"):
        gt.explain.why(loss({"w": jnp.ones((3, 2)), "b": 0.0}, X), jnp.ones(3))


def test_audit_batch_finds_examples_that_depend_on_each_other_and_the_line() -> None:
    """A mean over the examples is a leak; a function of each example is none, whatever its parameters are in."""

    @jax.jit
    def centred(x: Any) -> Any:
        moved = x - x.mean(axis=0)
        return moved * 2.0

    audit = gt.audit_batch(centred)(X)
    assert not audit
    assert len(audit.leaks) == 12
    assert [span.source.strip() for span in audit.meetings] == ["moved = x - x.mean(axis=0)"]
    assert gt.audit_batch(lambda p, x: jnp.tanh(x @ p["w"]), argnums=1)({"w": jnp.ones((3, 2))}, X)
    with pytest.raises(gt.ShapeError, match="first axis"):
        gt.audit_batch(lambda x: x.sum())(X)


def test_watching_inside_of_watching_records_once() -> None:
    """A block inside of another one leaves the recording to that, and JAX as it was afterwards."""
    plain = jax.grad, jax.jit, jax.vjp
    with watch("jax", tell=lambda note: None), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with watch("jax", tell=lambda note: None):
            jax.grad(lambda w: jnp.mean((X @ w - jnp.arange(4.0)) ** 2))(jnp.ones((3, 1)))
        assert gt.audit_batch(jnp.tanh)(X)
    assert len([w for w in caught if hasattr(w.message, "problem")]) == 1
    assert (jax.grad, jax.jit, jax.vjp) == plain


def test_the_report_shows_a_step_with_the_names_of_the_parameters(tmp_path: Path) -> None:
    """The facts of a compiled step: where it was asked, sources by name, and why one of them has no gradient."""
    collector = Collector("a step")
    with watch("jax", tell=lambda note: None, observe=collector.observe_elsewhere):
        step = jax.jit(jax.value_and_grad(loss))
        step({"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}, X)
    (facts,) = collector.gradients
    assert [(source.name, source.gradient is None) for source in facts.sources] == [("p['b']", True), ("p['w']", False)]
    assert facts.sources[0].reason is not None
    assert "stop_gradient" in facts.sources[0].reason.title
    assert facts.asked is not None
    assert facts.asked.file == __file__
    collector.report().save(tmp_path / "report.html")
    assert "p[&#x27;w&#x27;]" in (tmp_path / "report.html").read_text()
