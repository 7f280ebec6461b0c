"""A two-minute tour of gradtape. Every chapter prints the code that it runs, and then what it really gave.

python examples/tour.py
"""

from __future__ import annotations

import inspect
import textwrap
import warnings

import numpy as np
from progress import progress

import gradtape as gt


def a_tape() -> None:
    """Plain NumPy code inside the block is recorded; a gradient comes back in the shape of what you ask about."""
    x = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
    with gt.GradientTape() as tape:
        flat = np.tanh(x).reshape(4)
        loss = np.sum(flat**2)
    gradient = tape.gradient(loss, x)
    print("loss", loss)
    print("gradient of shape", gradient.shape)
    print(np.round(gradient, 4))


def backward() -> None:
    """The same graph without a block: mark the leaves, call backward, read .grad."""
    t = gt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    loss = (t**3).mean()
    loss.backward()
    print("t.grad", t.grad)


def functions_of_functions() -> None:
    """grad, jacobian, hessian, jvp and vmap take a function and return one. NumPy in, NumPy out."""

    def energy(position):
        return np.sum(position**2) ** 1.5

    here = np.array([3.0, 4.0])
    print("value", energy(here))
    print("gradient", gt.grad(energy)(here))
    print("second derivatives\n", gt.hessian(energy)(here))
    _, slope = gt.jvp(energy, (here,), (np.array([1.0, 0.0]),))
    print("slope along the first axis", slope)
    batch = np.array([[3.0, 4.0], [0.0, 1.0], [5.0, 12.0]])
    print("gradients of a batch\n", gt.vmap(gt.grad(energy))(batch))


def a_fit() -> None:
    """A small model, its parameters in a dictionary: the gradient has the same keys and shapes."""
    rng = np.random.default_rng(31337)
    x = np.linspace(-3.0, 3.0, 64)[:, None]
    y = np.sin(2.0 * x)
    weights = {
        "w1": rng.normal(size=(1, 24)),
        "b1": rng.normal(size=24),
        "w2": rng.normal(size=(24, 1)) * 0.3,
        "b2": np.zeros(1),
    }
    speed = {name: np.zeros_like(w) for name, w in weights.items()}

    def loss(weights):
        hidden = np.tanh(x @ weights["w1"] + weights["b1"])
        prediction = hidden @ weights["w2"] + weights["b2"]
        return np.mean((prediction - y) ** 2)

    print("loss before", round(float(loss(weights)), 4))
    for _ in progress(2000, "fitting"):
        gradient = gt.grad(loss)(weights)
        for name in weights:
            speed[name] = 0.95 * speed[name] - 0.01 * gradient[name]
            weights[name] = weights[name] + speed[name]
    print("loss after", round(float(loss(weights)), 4))


def a_clash_of_shapes() -> None:
    """What a mistake looks like: the line, the sub-expression, and the operands as you wrote them."""
    features = np.ones((5, 3))
    weights = gt.tensor(np.ones((4, 2)), requires_grad=True)
    try:
        features @ weights
    except gt.ShapeError as error:
        print(error)


def a_seed_of_the_wrong_shape() -> None:
    """Elsewhere this surfaces later, as a puzzling reshape error in an innocent operation. Here it is named at once."""
    x = gt.Variable(np.ones((20, 20)))
    with gt.GradientTape() as tape:
        y = (x * 2.0).reshape(400)
    try:
        tape.gradient(y, x, output_gradients=1.0)
    except gt.ShapeError as error:
        print(error)


def several_numbers_at_once() -> None:
    """backward starts from one number. Asked to start from several, it says so, and offers the ways out."""
    w = gt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    squares = w * w
    try:
        squares.backward()
    except gt.ShapeError as error:
        print(error)


def a_missing_gradient() -> None:
    """A gradient that is None has a reason, and the tape can tell it."""
    x = gt.Variable([1.2, 2.7, 3.1])
    with gt.GradientTape() as tape:
        rounded = np.round(x)
        loss = np.sum(rounded**2)
    print("gradient", tape.gradient(loss, x, unconnected_gradients="none"))
    print(tape.why(loss, x))


CHAPTERS = [
    a_tape,
    backward,
    functions_of_functions,
    a_fit,
    a_clash_of_shapes,
    a_seed_of_the_wrong_shape,
    several_numbers_at_once,
    a_missing_gradient,
]


def code_of(chapter) -> str:
    """The body of a chapter, without its first line and docstring."""
    body = textwrap.dedent(inspect.getsource(chapter)).split('"""', 2)[2]
    return textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")


def main() -> None:
    warnings.simplefilter("error")
    for number, chapter in enumerate(CHAPTERS, 1):
        title = chapter.__name__.replace("_", " ")
        print(f"{number}. {title}\n")
        print(textwrap.fill(inspect.getdoc(chapter) or "", 100))
        print(f"\n{code_of(chapter)}\n", flush=True)
        chapter()
        print("\n" + "-" * 100 + "\n")
    print("More: README.md, docs/index.md, and the other files in examples/.")


if __name__ == "__main__":
    main()
