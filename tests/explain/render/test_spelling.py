"""Advice in the words of the user's own program: its names for libraries, and for the arrays that are advised about."""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain import Problem
from gradtape.explain.render.spelling import edit_in, library_of, respell


def problems(code: str, **names: Any) -> list[Problem]:
    """What is said about a program, given as a text that Python can find again."""
    file = f"<program {hash(code)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    found: list[Problem] = []
    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, file, "exec"), names)
        except Exception as error:  # one of ours, perhaps under another library's name
            if not hasattr(error, "problem"):
                raise
    return found


@pytest.mark.parametrize(
    ("text", "imports", "said"),
    [
        ("np.sum(x, axis=1)", {"torch": "torch"}, "torch.sum(x, dim=1)"),
        ("gt.stop_gradient(x)", {"t": "torch"}, "x.detach()"),
        ("np.concatenate([a, b])", {"torch": "gradtape_standins.torch"}, "torch.cat([a, b])"),
        ("x.astype(float)", {"torch": "torch"}, "x.float()"),
        ("np.sum(x) and np.clip(x, 0, 1)", {"tf": "tensorflow"}, "tf.reduce_sum(x) and tf.clip_by_value(x, 0, 1)"),
        ("gt.log_softmax(x)", {"tf": "tensorflow"}, "tf.math.log_softmax(x)"),
        ("x.astype(int)", {"tf": "tensorflow"}, "tf.cast(x, tf.int32)"),
        ("np.where(c, a, b)", {"xp": "numpy"}, "xp.where(c, a, b)"),
        ("gt.relu(x)", {"gradtape": "gradtape"}, "gradtape.relu(x)"),
        ("np.where(c, a, b) or gt.relu(x)", {"np": "numpy", "gt": "gradtape"}, "np.where(c, a, b) or gt.relu(x)"),
        ("x = tape.watch(x) at the top", {"tf": "tensorflow"}, "tape.watch(x) at the top"),
        ("x = tape.watch(x) at the top", {"np": "numpy"}, "x = tape.watch(x) at the top"),
        ("gt.tensor(data, requires_grad=True)", {"t": "tensorflow"}, "t.Variable(data)"),
        ("scipy.special.xlogy(x, y)", {"th": "torch"}, "th.xlogy(x, y)"),
        ("x + gt.stop_gradient(gt.round(x) - x)", {"torch": "torch"}, "x + (torch.round(x) - x).detach()"),
        ("gt.custom_vjp or x[:, np.newaxis]", {"tf": "tensorflow"}, "tf.custom_gradient or x[:, tf.newaxis]"),
        ("gt.explain.configure(GT404='off')", {"torch": "torch"}, "gt.explain.configure(GT404='off')"),
    ],
)
def test_texts(text: str, imports: dict[str, str], said: str) -> None:
    """Names become those of the library that the file computes with; what it has no name for stays."""
    assert respell(text, imports) == said


def test_the_library_of_a_file() -> None:
    """A part of a library stands for it, and the name it is imported by is kept."""
    assert library_of({"nn": "torch.nn"}) == ("torch", "torch")
    assert library_of({"np": "numpy", "tf": "gradtape_standins.tensorflow"}) == ("tensorflow", "tf")
    assert edit_in(".T", {"tf": "tensorflow"}) == "tf.transpose({})"
    assert edit_in(".T", {"torch": "torch"}) == ".T"


def test_advice_in_a_pytorch_program() -> None:
    """A softmax over the wrong dimension is mended by the keyword that is there."""
    (found,) = problems(
        "from gradtape_standins import torch\n"
        "X, y = torch.randn(20, 5), torch.randint(0, 3, (20,))\n"
        "W = torch.randn(5, 3, requires_grad=True)\n"
        "p = torch.softmax(X @ W, dim=0)\n"
        "(-torch.log(p[torch.arange(20), y]).mean()).backward()\n"
    )
    assert (found.code, found.fixes[0]) == ("GT501", "torch.softmax(X @ W, dim=1)")


def test_advice_in_a_tensorflow_program() -> None:
    """A seed is stretched, and a matrix turned, by TensorFlow's functions."""
    (found,) = problems(
        "from gradtape_standins import tensorflow as tf\n"
        "x = tf.Variable(tf.ones([4, 5]))\n"
        "with tf.GradientTape() as tape:\n    y = tf.reshape(x, [20])\n"
        "tape.gradient(y, x, output_gradients=tf.constant([1.0]))\n"
    )
    assert found.code == "GT301"
    assert "tf.broadcast_to(tf.constant([1.0]), (20,))" in found.fixes[0]


def test_a_file_without_numpy() -> None:
    """An edit names a library that the file has imported."""
    (found,) = problems(
        "import gradtape\n"
        "x = gradtape.Variable([1.0, 0.5])\n"
        "with gradtape.GradientTape() as tape:\n    y = gradtape.arccos(x).sum()\n"
        "tape.gradient(y, x)\n"
    )
    assert found.fixes[0] == "gradtape.arccos(gradtape.clip(x, -1 + 1e-7, 1 - 1e-7))"


class TestMistakesOfUsers:
    """Programs that were met, each with the line and the cure that were missing once."""

    def test_table_of_pairs_inside_vmap(self) -> None:
        """An accidental table of pairs is seen in the shapes of one example."""
        found = problems(
            "import gradtape as gt\nimport numpy as np\n"
            "def one(w, x, t):\n    pred = x @ w\n    return np.mean((pred - t) ** 2)\n"
            "data, target = np.ones((6, 12, 3)), np.ones((6, 12))\n"
            "gt.grad(lambda w: np.mean(gt.vmap(one, in_axes=(None, 0, 0))(w, data, target)))(np.ones((3, 1)))\n"
        )
        assert [problem.code for problem in found] == ["GT101"]
        assert found[0].title == "every element of pred (12, 1) meets every element of t (12,)"
        assert found[0].fixes[0] == "pred[:, 0] - t"

    def test_table_of_pairs_in_code_without_source(self) -> None:
        """Where no source can be read, the shapes are told all the same."""
        X, y = gt.Variable(np.ones((12, 1))), np.ones(12)
        found: list[Problem] = []
        with gt.explain.listening(found.append), warnings.catch_warnings(), gt.GradientTape():
            warnings.simplefilter("ignore")
            exec(compile("loss = (X * 2.0 - y) ** 2", "<no source>", "exec"), {"X": X, "y": y})
        assert [problem.code for problem in found] == ["GT101"]

    def test_nan_in_one_example_of_vmap(self) -> None:
        """A gradient under vmap that is not finite is explained for the first such example."""
        (found,) = problems(
            "import gradtape as gt\nimport numpy as np\n"
            "gt.vmap(gt.grad(lambda x: np.sum(np.sqrt(x))))(np.array([[1.0, 4.0], [0.0, 1.0]]))\n"
        )
        assert found.title == "the slope of np.sqrt(x) is infinite at [0], where x is 0"

    def test_parameters_that_start_at_zero(self) -> None:
        """Two layers of zeros never move, though each is a factor of the other only."""
        (found,) = problems(
            "import gradtape as gt\nimport numpy as np\n"
            "V, W = gt.Variable(np.zeros((3, 4))), gt.Variable(np.zeros((4, 1)))\n"
            "with gt.GradientTape() as tape:\n"
            "    loss = np.mean((np.tanh(np.ones((5, 3)) @ V) @ W - 1.0) ** 2)\n"
            "tape.gradient(loss, [V, W])\n"
        )
        assert found.code == "GT404"
        assert "random weights" in found.fixes[0]

    def test_one_factor_that_starts_at_zero_is_meant(self) -> None:
        """A layer of zeros that gets a gradient moves away from zero."""
        found = problems(
            "import gradtape as gt\nimport numpy as np\n"
            "V, W = gt.Variable(np.ones((3, 4))), gt.Variable(np.zeros((4, 1)))\n"
            "with gt.GradientTape() as tape:\n"
            "    loss = np.mean((np.tanh(np.ones((5, 3)) @ V) @ W - 1.0) ** 2)\n"
            "tape.gradient(loss, [V, W])\n"
        )
        assert found == []

    def test_softmax_of_one_class(self) -> None:
        """Over an axis of length 1 softmax is always 1, and no gradient comes back through it."""
        (found,) = problems(
            "import gradtape as gt\nimport numpy as np\n"
            "W = gt.Variable(np.ones((3, 1)))\n"
            "with gt.GradientTape() as tape:\n"
            "    p = gt.softmax(np.ones((5, 3)) @ W, axis=-1)\n    loss = np.mean((p - 0.5) ** 2)\n"
            "tape.gradient(loss, W)\n"
        )
        assert "is over an axis of length 1, and so 1" in found.title

    def test_target_that_left_the_tape(self) -> None:
        """A target that is a plain number: where values left this tape, and what to write there."""
        (found,) = problems(
            "import gradtape as gt\nimport numpy as np\n"
            "w = gt.Variable(1.0)\n"
            "with gt.GradientTape() as tape:\n"
            "    total = 0.0\n    for d in (1.0, 2.0):\n        total += float(np.exp(-w * d))\n"
            "tape.gradient(total, w)\n"
        )
        assert found.code == "GT305"
        assert [span.text for span in found.spans] == ["tape.gradient(total, w)", "float(np.exp(-w * d))"]
        assert found.fixes[0] == "np.exp(-w * d)"

    def test_backward_of_what_left_the_graph(self) -> None:
        """A tensor made of values that left is a constant: the place where they did."""
        (found,) = problems(
            "import gradtape as gt\n"
            "theta = gt.tensor([0.5, 1.5], requires_grad=True)\n"
            "terms = [t ** 2 for t in theta.tolist()]\n"
            "loss = sum(terms) * gt.tensor(1.0)\nloss.backward()\n"
        )
        assert found.main is not None
        assert found.main.text == "theta.tolist()"

    def test_floor_division(self) -> None:
        """`//` is meant as `/` where a gradient is asked for."""
        (found,) = problems(
            "import gradtape as gt\nprint(gt.grad(lambda w: w // 1.8 ** 2)(80.0))\n", print=lambda *_: None
        )
        assert found.fixes == ("w / 1.8 ** 2",)

    def test_operands_of_a_call_are_not_those_of_its_parts(self) -> None:
        """What a composed function divides by is not what it was called with."""
        (found,) = problems(
            "import gradtape as gt\nimport numpy as np\n"
            "gt.grad(lambda h: np.sum(np.std(h, axis=0, ddof=1)))(np.ones((1, 4)))\n"
        )
        assert found.title == "np.std(h, axis=0, ddof=1) is nan at [0]"
        assert not any(fix.is_edit for fix in found.fixes)

    def test_parameters_in_the_place_of_a_learning_rate(self) -> None:
        """An optimiser is made with a learning rate, and says where the parameters go."""
        net = gt.nn.Linear(3, 2, rng=np.random.default_rng(0))
        for given in (net, net.parameters(), iter(net.parameters()), np.ones(5)):
            with pytest.raises(gt.OperandError, match="the learning rate was expected, and parameters were given"):
                gt.optim.Adam(given)

    def test_layers_by_their_own_names(self) -> None:
        """`Linear` says Linear, `Dense` says Dense, and both say which layer would fit."""
        for name in ("Linear", "Dense"):
            layer = getattr(gt.nn, name)(10, 32, rng=np.random.default_rng(0))
            with pytest.raises(gt.ShapeError) as caught:
                layer(np.ones((4, 12), np.float32))
            assert caught.value.problem.title.startswith(f"{name}: an input of shape (4, 12) has 12 features")
            assert caught.value.problem.fixes == (f"{name}(12, 32)",)
