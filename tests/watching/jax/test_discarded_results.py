"""Results that a program of JAX throws away, and errors about what is compiled and differentiated."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.explain.source.files import source_of  # noqa: E402
from gradtape.watching import watch  # noqa: E402
from gradtape.watching.jax import updates  # noqa: E402
from gradtape.watching.jax.discarded_results import discarded_in  # noqa: E402

ANY = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)


def read(name: str, text: str) -> Any:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return source_of(name)


def test_statements_without_effect_are_found() -> None:
    """An update of an array, or of parameters, that stands alone; one whose result is used is none."""
    text = "u.at[0].set(1.0)\nu = u.at[1].add(2.0)\noptax.apply_updates(p, g)\np = optax.apply_updates(p, g)\n"
    found = list(discarded_in(read("discarded_statements.py", text), "<module>"))
    assert [(each.code, str(each.fixes[0])) for each in found] == [
        ("GT202", "u = u.at[0].set(1.0)"),
        ("GT512", "p = optax.apply_updates(p, g)"),
    ]


def test_only_words_of_the_program_say_that_it_is_meant() -> None:
    """A name or a comment beside the place counts; a comment at the top of the file does not."""
    head = "# the student is stopped, not the teacher\n\n\n\n\n"

    class Place:
        line = 8

        def __init__(self, file: str) -> None:
            self.file = file

    plain = read("words_plain.py", head + "x = 1\n\n\ny = f(x)\n").file
    named = read("words_named.py", head + "teacher = 1\n\n\ny = f(x)\n").file
    beside = read("words_beside.py", head + "x = 1\n# frozen\n\ny = f(x)\n").file
    meant = [updates.has_word_for_it(Place(file)) for file in (plain, named, beside)]  # type: ignore[arg-type]
    assert meant == [False, True, True]


def explained(program: Any) -> Problem:
    with pytest.raises(ANY) as raised, watch("jax", tell=lambda note: None):
        program()
    found: Problem = raised.value.problem  # type: ignore[attr-defined]
    return found


def test_loop_without_a_known_number_of_steps_is_named() -> None:
    """The `while_loop` is the first place, the request for the gradient the second."""

    def root(a: Any) -> Any:
        return jax.lax.while_loop(lambda s: s < 100.0, lambda s: s * a, a)

    found = explained(lambda: jax.grad(root)(2.0))
    assert found.code == "GT313"
    assert "while_loop" in found.spans[0].source


def test_object_of_a_compiled_method_and_traced_slice_are_explained() -> None:
    """`self` is no array; the bounds of a slice have to be known."""

    class Model:
        @jax.jit
        def loss(self, w: Any) -> Any:
            return jnp.sum(w)

    with watch("jax", tell=lambda note: None):
        sliced = jax.jit(lambda n: jnp.sum(jnp.arange(9.0)[:n]))
    assert explained(lambda: jax.grad(Model().loss)(jnp.ones(2))).code == "GT314"
    assert explained(lambda: sliced(3)).code == "GT314"
