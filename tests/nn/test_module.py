"""Modules: what they hold is found, called, stored and restored; bad input is refused and changes nothing."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.nn import functional
from gradtape.nn.names import flat


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def network() -> gt.nn.Sequential:
    layers = (gt.nn.Dense(3, 4), gt.nn.BatchNorm1d(4), gt.nn.Tanh(), gt.nn.Dropout(0.5), gt.nn.Dense(4, 2))
    return gt.nn.Sequential(*layers).initialise(rng())


X = rng(1).normal(size=(6, 3)).astype(np.float32)


def test_a_module_is_a_table_in_notebooks() -> None:
    """A notebook shows each parameter and buffer by path, also without numbers, and how many there are."""
    model = gt.nn.Sequential(gt.nn.Dense(3, 2), gt.nn.BatchNorm1d(2, rng=np.random.default_rng(0)))
    page = model._repr_html_()
    assert "12 numbers in 4 parameters" in page
    for words in ("0.weight", "no numbers yet", "1.running_mean", "buffer", "Dense", "(2, 3)"):
        assert words in page
    named = gt.nn.Dense(1, 1, rng=np.random.default_rng(0))
    named.parts = {"<b>": gt.Variable(1.0)}
    assert "parts.&lt;b&gt;" in named._repr_html_()


class Branched(gt.nn.Module):
    """A module with everything in odd places."""

    def __init__(self) -> None:
        self.scale = gt.Variable(2.0)
        self.blocks = [gt.nn.Dense(2, 2, rng=rng()), {"last": gt.nn.Dense(2, 1, rng=rng())}]
        self.totals = (gt.Variable(np.zeros(2), trainable=False),)
        self.shared = self.blocks[0]

    def forward(self, x: Any) -> Any:
        return self.scale * self.blocks[1]["last"](self.shared(self.blocks[0](x)))


def test_names_are_found_in_lists_tuples_and_dictionaries() -> None:
    """Own parameters come first, then those of modules within, and what is shared comes once."""
    module = Branched()
    assert [name for name, _ in module.named_parameters()] == [
        "scale",
        "blocks.0.weight",
        "blocks.0.bias",
        "blocks.1.last.weight",
        "blocks.1.last.bias",
    ]
    assert [name for name, _ in module.named_buffers()] == ["totals.0"]
    assert len(list(module.modules())) == 3


def test_functional_call_reaches_odd_places_and_leaves_the_module_alone() -> None:
    """With twice the scale the output doubles; the module itself still has its own."""
    module, x = Branched(), np.ones((1, 2), np.float32)
    params = module.params
    before = module(x).numpy()
    params["scale"] = params["scale"] * 2
    output, buffers = module.apply(params, x, buffers={"totals": {"0": np.ones(2)}})
    np.testing.assert_allclose(output, 2 * before, rtol=1e-6)
    assert buffers["totals"]["0"].tolist() == [1.0, 1.0]
    assert float(module.scale) == 2.0


def test_gradients_by_tape_backward_and_function_agree() -> None:
    """The same gradients come from a tape over variables and from grad over params."""
    model = network().eval()
    target = np.ones((6, 2), np.float32)
    with gt.GradientTape() as tape:
        loss = functional.mse_loss(model(X), target)
    by_tape = tape.gradient(loss, model.parameters())
    by_function = gt.grad(lambda p: functional.mse_loss(model.apply(p, X), target))(model.params)
    for one, other in zip(by_tape, flat(by_function).values(), strict=True):
        np.testing.assert_array_equal(one.numpy(), other)


def test_a_training_step_compiles_and_gives_the_same_numbers() -> None:
    """A step with batch norm and dropout in it is traced once, and draws, keeps and learns as without jit."""

    def losses(compiled: bool) -> list[float]:
        model = network()
        variables = model.parameters()
        opt = gt.optim.SGD(0.1, momentum=0.9)
        opt.build(variables)

        def train(x: Any) -> Any:
            with gt.GradientTape() as tape:
                loss = functional.mse_loss(model(x), np.ones((6, 2), np.float32))
            opt.step(variables, tape.gradient(loss, variables))
            return loss

        step: Any = gt.jit(train) if compiled else train
        found = [float(step(X)) for _ in range(4)]
        assert not compiled or step.stats.traces == 1
        assert int(model[1].num_batches_tracked) == 4
        return found

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-5)


def test_functional_call_compiles_with_buffers_and_dropout() -> None:
    """The functional form is traced once, returns new buffers, and draws anew in each call."""
    model, generator = network(), rng(5)
    step = gt.jit(lambda params, buffers, x: model.apply(params, x, buffers=buffers, rng=generator))
    params, buffers = model.params, model.buffer_values
    first, once = step(params, buffers, X)
    second, _ = step(params, buffers, X)
    assert step.stats.traces == 1
    assert int(once["1"]["num_batches_tracked"]) == 1
    assert not np.array_equal(first, second)


def test_eval_uses_running_statistics_and_drops_nothing() -> None:
    """In eval mode the output is the same each time, and the statistics stay."""
    model = network().eval()
    assert np.array_equal(model(X).numpy(), model(X).numpy())
    assert int(model[1].num_batches_tracked) == 0


def test_running_statistics_are_read_anew_by_a_compiled_model() -> None:
    """In eval mode a compiled model follows the statistics when they change, without another trace."""
    layer = gt.nn.BatchNorm1d(3).eval()
    compiled = gt.jit(lambda x: layer(x))
    before = compiled(X)
    layer.running_mean.assign(np.ones(3))
    np.testing.assert_allclose(compiled(X), before - 1, atol=1e-4)
    assert compiled.stats.traces == 1


def test_state_dict_goes_round() -> None:
    """What is taken out and loaded into another model makes it give the same answers."""
    model, other = network().eval(), network().initialise(rng(9)).eval()
    assert not np.array_equal(model(X).numpy(), other(X).numpy())
    other.load_state_dict(model.state_dict())
    assert np.array_equal(model(X).numpy(), other(X).numpy())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda state: state.pop("0.bias"), "'0.bias' is missing"),
        (lambda state: state.update(extra=np.ones(1)), "'extra' is not in the model"),
        (lambda state: state.update({"4.weight": np.ones((2, 5))}), r"'4.weight' has shape \(2, 5\).*\(2, 4\)"),
        (lambda state: state.update({"4.bias": np.ones(2, complex)}), "'4.bias' has dtype complex128"),
    ],
)
def test_a_wrong_state_is_refused_whole(change: Any, says: str) -> None:
    """A state with a missing, unknown or misshapen array names it, and none of the others is loaded."""
    model = network()
    before, state = model.state_dict(), network().initialise(rng(3)).state_dict()
    change(state)
    with pytest.raises(gt.GradTapeError, match=says):
        model.load_state_dict(state)
    assert all(np.array_equal(value, before[name]) for name, value in model.state_dict().items())


def test_init_is_pure_and_repeats_with_the_generator() -> None:
    """The same seed gives the same numbers; the module without numbers stays without."""
    model = gt.nn.Sequential(gt.nn.Dense(2, 3), gt.nn.LSTM(3, 2))
    one, other = model.init(rng(4)), model.init(rng(4))
    assert all(np.array_equal(one["1"][name], value) for name, value in other["1"].items())
    assert not np.array_equal(one["0"]["weight"], model.init(rng(5))["0"]["weight"])
    assert model.initialise(rng(4)).params["0"]["weight"].tobytes() == one["0"]["weight"].tobytes()


def test_shared_layers_are_drawn_and_trained_once() -> None:
    """A layer that is used twice has one set of numbers."""
    layer = gt.nn.Dense(2, 2)
    model = gt.nn.Sequential(layer, gt.nn.Tanh(), layer).initialise(rng())
    assert len(model.parameters()) == 2
    assert model(np.ones((1, 2), np.float32)).shape == (1, 2)
    assert set(model.params) == {"0"}
    assert model.apply(model.params, np.ones((1, 2), np.float32)).shape == (1, 2)


def test_hooks_see_and_replace_the_output() -> None:
    """A forward hook gets module, inputs and output; what it returns is the output; removed, it is gone."""
    layer = gt.nn.Identity()
    hook = layer.register_forward_hook(lambda module, inputs, output: output * 2)
    assert layer(np.ones(1)).tolist() == [2.0]
    hook.remove()
    hook.remove()
    assert layer(np.ones(1)).tolist() == [1.0]


def test_containers_index_slice_and_iterate() -> None:
    """Sequential and ModuleList are sequences of modules, ModuleDict a dictionary."""
    model = network()
    assert isinstance(model[-1], gt.nn.Dense)
    assert len(model[:2]) == 2
    assert isinstance(model[1:3], gt.nn.Sequential)
    model[2] = gt.nn.ReLU()
    assert [type(layer).__name__ for layer in model] == ["Dense", "BatchNorm1d", "ReLU", "Dropout", "Dense"]
    named = gt.nn.Sequential({"first": gt.nn.Dense(1, 1, rng=rng()), "last": gt.nn.Tanh()})
    assert list(named.state_dict()) == ["first.weight", "first.bias"]
    heads = gt.nn.ModuleDict({"a": gt.nn.Tanh()})
    heads["b"] = gt.nn.ReLU()
    assert heads.keys() == ["a", "b"]
    assert "b" in heads
    assert "training" not in heads
    with pytest.raises(IndexError, match="5 modules, and no number 7"):
        model[7]
    with pytest.raises(KeyError, match="'c'; there are 'a', 'b'"):
        heads["c"]


def attention(query: Any, key: Any, value: Any) -> Any:
    return gt.nn.MultiheadAttention(3, 1, batch_first=True, rng=rng())(query, key, value)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: gt.nn.Dense(2, 3)(np.ones((1, 2))), "weight has no numbers yet"),
        (lambda: gt.nn.Dense(2, 3).parameters(), "'weight' has no numbers yet"),
        (lambda: gt.nn.Dense(2, 3, rng=0), "rng is a int; a generator of NumPy's is wanted"),
        (lambda: gt.nn.Dense(2, -3), "out_features=-3"),
        (lambda: gt.nn.Dense(2, 3, dtype=int), "parameters are floating point numbers"),
        (lambda: gt.nn.Dense(2, 3).init(None), "rng is a NoneType"),
        (lambda: gt.nn.Dropout(0.5)(np.ones(3)), "has no generator"),
        (lambda: gt.nn.Dropout(1.5), r"p=1.5"),
        (lambda: gt.nn.Conv2d(3, 4, 3, groups=2), "2 groups of 3 input and 4 output channels"),
        (lambda: gt.nn.BatchNorm2d(3)(np.ones((2, 4, 5, 5))), r"\(examples, 3, ...\) is accepted"),
        (lambda: gt.nn.BatchNorm2d(3)(np.ones((2, 3))), "4 axes are accepted"),
        (lambda: gt.nn.LSTM(3, 4, rng=rng())(np.ones((2, 5))), "with 3 features"),
        (lambda: gt.nn.GRU(3, 4, rng=rng())(np.ones((5, 2, 3)), np.ones((1, 1, 4))), r"1 of shape \(1, 2, 4\)"),
        (lambda: gt.nn.MultiheadAttention(5, 2), "2 heads of 5 features"),
        (lambda: attention(X[None], X[None, :5], X[None]), "with a value for each key"),
        (lambda: attention(X[None], X[None], X[None, :, :2]), "with 3, 3, 3 features"),
        (lambda: attention(X[None], X, X), "two axes each"),
        (lambda: gt.nn.GroupNorm(2, 3), "2 groups of 3 channels"),
        (lambda: gt.nn.Embedding(3, 2, padding_idx=3), "padding_idx=3 of 3 rows"),
        (lambda: gt.nn.Sequential(gt.nn.Tanh), "the class Tanh is given"),
        (lambda: gt.nn.Sequential(np.tanh), "modules are accepted"),
        (lambda: gt.nn.Sequential([gt.nn.Tanh()]), r"Sequential\(\*modules\)"),
        (lambda: gt.nn.ModuleList([[gt.nn.Tanh()]]), "one list of modules"),
        (lambda: gt.nn.ModuleList(gt.nn.Tanh()), "a list of modules is accepted"),
        (lambda: gt.nn.ModuleDict([gt.nn.Tanh()]), "a dictionary of modules is accepted"),
        (lambda: gt.nn.TransformerEncoder(gt.nn.TransformerEncoderLayer(4, 2, 8), 2), "layers is a Transformer"),
        (lambda: gt.nn.TransformerEncoder([gt.nn.TransformerEncoderLayer(4, 2, 8)], 2), "norm is a int"),
        (lambda: gt.nn.ModuleDict({"training": gt.nn.Tanh()}), "'training'"),
        (lambda: gt.nn.LeakyReLU(slope=0.1), "unexpected keyword argument 'slope'"),
        (lambda: gt.nn.Module()(1.0), "forward is not written"),
        (lambda: gt.nn.Dense(1, 1).load_state_dict([1]), "a list; a dictionary of arrays"),
        (lambda: gt.nn.Dense(1, 1).apply({"weight": np.ones((1, 1))}, np.ones((1, 1))), "'bias' is missing"),
        (lambda: gt.nn.Dense(1, 1).apply([1], np.ones((1, 1))), "a nested dictionary of arrays"),
        (lambda: gt.nn.init.glorot_uniform()(rng(), (3,)), "has no fans"),
        (lambda: gt.nn.init.he_normal("swish"), "nonlinearity='swish'"),
    ],
)
def test_mistakes_are_explained(wrong: Any, says: str) -> None:
    """What a user gets wrong is answered with what was given and what is accepted."""
    with pytest.raises(gt.GradTapeError, match=says) as caught:
        wrong()
    assert caught.value.problem.fixes


def test_an_unknown_attribute_names_the_nearest() -> None:
    """A misspelt attribute is an AttributeError that suggests the right one."""
    with pytest.raises(AttributeError, match="did you mean 'training'"):
        gt.nn.Tanh().trainin  # noqa: B018


def test_modules_can_be_copied_and_pickled() -> None:
    """A copy has the same numbers and is independent; so has one that was sent to another process."""
    model = network().eval()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(model(X).numpy(), other(X).numpy())
        other[0].weight.assign(other[0].weight * 0)
        assert model[0].weight.numpy().any()


def test_initialisers_have_their_variances() -> None:
    """Drawn weights have the spread that their formulas promise, and the dtype that is asked for."""
    shape = (400, 300)
    expected = {
        "glorot_uniform": 2 / 700,
        "xavier_normal": 2 / 700,
        "he_uniform": 2 / 300,
        "kaiming_normal": 2 / 300,
        "lecun_normal": 1 / 300,
        "lecun_uniform": 1 / 300,
    }
    for name, variance in expected.items():
        drawn = getattr(gt.nn.init, name)()(rng(), shape)
        assert drawn.dtype == np.float32
        assert np.var(drawn) == pytest.approx(variance, rel=0.02)
    wide = gt.nn.init.orthogonal(2.0)(rng(), (3, 2, 4), np.float64).reshape(3, 8)
    np.testing.assert_allclose(wide @ wide.T, 4 * np.eye(3), atol=1e-12)
    tall = gt.nn.init.orthogonal()(rng(), (8, 3), np.float64)
    np.testing.assert_allclose(tall.T @ tall, np.eye(3), atol=1e-12)


def test_float32_stays_float32() -> None:
    """A network of single precision gives single precision for it, gradients included."""
    model = network()
    loss, gradients = gt.value_and_grad(lambda p: model.apply(p, X).sum())(model.params)
    assert loss.dtype == np.float32
    assert gradients["0"]["weight"].dtype == np.float32


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_sequences_end_where_they_end(kind: str) -> None:
    """With lengths, each example gives what it gives alone, in both directions; what is behind its end is 0."""
    rng = np.random.default_rng(0)
    layer = getattr(gt.nn, kind)(2, 3, num_layers=2, bidirectional=True, rng=rng, dtype=np.float64)
    x, lengths = rng.normal(size=(5, 3, 2)), [5, 2, 4]
    output, state = layer(x, lengths=lengths)
    for number, length in enumerate(lengths):
        alone, end = layer(x[:length, number])
        np.testing.assert_allclose(output[:length, number], alone, atol=1e-12)
        assert not np.any(np.asarray(output[length:, number]))
        for part, whole in zip(end, state) if kind == "LSTM" else [(end, state)]:
            np.testing.assert_allclose(whole[:, number], part, atol=1e-12)


@pytest.mark.parametrize("lengths", [[5, 2], [5, 0, 2], [6, 1, 1], [1.0, 2.0, 3.0]])
def test_lengths_that_do_not_fit_are_refused(lengths: list[Any]) -> None:
    """An integer for each example, from 1 to the number of times."""
    with pytest.raises(gt.ShapeError, match="lengths"):
        gt.nn.GRU(2, 3, rng=np.random.default_rng(0))(np.ones((5, 3, 2), np.float32), lengths=lengths)


def test_options_of_the_function_behind_a_layer_are_not_offered_for_its_call() -> None:
    """A layer takes no options when it is called, so that none is written into the call as an edit."""
    image = np.ones((1, 1, 4, 4), np.float32)
    with pytest.raises(gt.OperandError, match="same") as caught:
        gt.nn.Conv2d(1, 1, 3, stride=2, padding="same", rng=np.random.default_rng(0))(image)
    assert caught.value.problem.fixes
    assert not any(fix.is_edit for fix in caught.value.problem.fixes)


def test_layers_of_operations_take_no_options_of_ufuncs() -> None:
    """A layer that is an operation has an empty signature: `out=` and `where=` belong to the call of a ufunc."""
    assert not inspect.signature(gt.nn.Sigmoid).parameters
    with pytest.raises(gt.OperandError, match="unexpected keyword argument 'out'"):
        gt.nn.Sigmoid(out=np.zeros(1))
