"""What the behaviour tests share: the lines that messages must name, and proof that a mistake leaves nothing behind."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pytest

import gradtape as gt
from gradtape.core import recording
from gradtape.core.graph import AMBIENT


@pytest.fixture
def line(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """`file:line`, as messages write it, of the line of this test that ends in the comment `# <mark>`."""

    def find(mark: str = "here") -> str:
        lines, first = inspect.getsourcelines(request.function)
        (number,) = [n for n, text in enumerate(lines, first) if text.rstrip().endswith(f"# {mark}")]
        return f"{request.path.name}:{number}"

    return find


@pytest.fixture
def refused(line: Callable[[str], str]) -> Callable[..., AbstractContextManager[None]]:
    """A block that must raise: the message names the line marked `# here` and `fragments`; then all works again."""

    @contextmanager
    def block(error: type[gt.GradTapeError], *fragments: str) -> Iterator[None]:
        with pytest.raises(error) as caught:
            yield
        message = str(caught.value)
        for fragment in (line("here"), *fragments):
            assert fragment in message, message
        assert issubclass(error, gt.GradTapeError)
        next_gradient_works()

    return block


def next_gradient_works() -> None:
    """Every way of asking for a gradient gives the right answer, and nobody is left recording."""
    state = recording.current()
    assert state.recorders == ()
    assert state.bits == AMBIENT
    x = gt.Variable([1.0, 2.0])
    with gt.GradientTape() as tape:
        y = (x * x).sum()
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [2.0, 4.0])
    t = gt.tensor([1.0, 2.0], requires_grad=True)
    (t * t).sum().backward()
    np.testing.assert_array_equal(t.grad.numpy(), [2.0, 4.0])
    np.testing.assert_array_equal(gt.grad(lambda v: (v * v).sum())(np.array([1.0, 2.0])), [2.0, 4.0])


@pytest.fixture(autouse=True)
def clean_afterwards() -> Iterator[None]:
    """Whatever a test does, the next gradient works."""
    yield
    next_gradient_works()


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Nothing is freed but by counts of references, and a million objects are not looked through again and again."""
    gc.disable()
    yield
    gc.enable()
