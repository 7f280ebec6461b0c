"""fit: it learns, stops, stores and shows itself; interrupted and taken up, it ends with the same bits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import api
from gradtape.nn import functional
from gradtape.nn.storage import read
from gradtape.training.history import History, sparkline
from gradtape.training.progress import FitProgress

RNG = np.random.default_rng(11)
X = RNG.normal(size=(50, 3))
Y = np.sin(X[:, :1]) + 0.1 * RNG.normal(size=(50, 1))
DATA, HELD_OUT = (X[:40], Y[:40]), (X[40:], Y[40:])


def network(seed: int = 0, small: bool = False) -> gt.nn.Sequential:
    if small:
        return gt.nn.Sequential(gt.nn.Dense(3, 1), gt.nn.Dropout(0.2)).initialise(np.random.default_rng(seed))
    layers = (gt.nn.Dense(3, 8), gt.nn.BatchNorm1d(8), gt.nn.Tanh(), gt.nn.Dropout(0.2), gt.nn.Dense(8, 1))
    return gt.nn.Sequential(*layers).initialise(np.random.default_rng(seed))


def fitted(model: gt.nn.Module, **options: Any) -> History:
    given = {
        "optimiser": gt.optim.AdamW(gt.optim.schedules.cosine(0.02, 60)),
        "epochs": 6,
        "batch_size": 12,
        "validation": HELD_OUT,
        "metrics": {"error": functional.l1_loss},
        "rng": np.random.default_rng(5),
        "early_stopping": gt.EarlyStopping(patience=10),
        "jit": False,
    }
    return gt.fit(model, DATA, functional.mse_loss, **{**given, **options})


def bits(model: gt.nn.Module, history: History) -> tuple[Any, ...]:
    """All that a run leaves behind."""
    numbers = {name: (value.dtype.str, value.tobytes()) for name, value in model.state_dict().items()}
    return numbers, history.records, history.best_epoch, history.stopped


class Interrupted:
    """Ctrl-C, after a number of batches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
        self.left = after
        self.original = FitProgress.batch
        monkeypatch.setattr(FitProgress, "batch", lambda progress, epoch, loss: self(progress, epoch, loss))

    def __call__(self, progress: FitProgress, epoch: int, loss: float) -> None:
        self.original(progress, epoch, loss)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize(("after", "jit"), [(1, False), (6, False), (8, False), (15, False), (6, True)])
def test_interrupted_and_resumed_ends_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int, jit: bool
) -> None:
    """Wherever the run is interrupted, parameters, statistics, history and best epoch are those of one in one go."""
    options: dict[str, Any] = {"jit": jit, "batch_size": 10}
    model = network(small=jit)
    whole = bits(model, fitted(model, **options))
    options["checkpoint"] = tmp_path / "run.safetensors"
    with monkeypatch.context() as patched:
        Interrupted(patched, after)
        history = fitted(network(small=jit), **options)
    assert history.stopped == "interrupted"
    assert len(history) == (after - 1) // 4
    # as in another process: another model, other generators, nothing but the file
    second = network(seed=99, small=jit)
    history = fitted(second, resume=True, **{**options, "rng": np.random.default_rng(1234)})
    assert bits(second, history) == whole


def test_interrupted_within_a_step_it_is_as_if_the_step_had_not_begun(tmp_path: Path) -> None:
    """Dropout has drawn already when the loss is interrupted: the generator goes back with the rest."""
    model = network()
    whole = bits(model, fitted(model))
    calls: list[int] = []

    def interrupted(prediction: Any, target: Any) -> Any:
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return functional.mse_loss(prediction, target)

    file, model = tmp_path / "run.safetensors", network()
    options: dict[str, Any] = {"jit": False, "checkpoint": file}
    given = {
        "optimiser": gt.optim.AdamW(gt.optim.schedules.cosine(0.02, 60)),
        "validation": HELD_OUT,
        "metrics": {"error": functional.l1_loss},
        "early_stopping": gt.EarlyStopping(patience=10),
        "epochs": 6,
        "batch_size": 12,
        "rng": np.random.default_rng(5),
    }
    first = gt.fit(model, DATA, interrupted, **given, **options)
    assert first.stopped == "interrupted"
    second = network(seed=3)
    history = fitted(second, checkpoint=file, resume=True, rng=np.random.default_rng(1))
    assert bits(second, history) == whole


def test_storing_every_few_batches_is_enough_after_a_crash(tmp_path: Path) -> None:
    """An error leaves the model at its last good step, and the file at the last that was stored; both can go on."""
    model = network()
    whole = bits(model, fitted(model))
    calls: list[int] = []

    def failing(prediction: Any, target: Any) -> Any:
        calls.append(1)
        if len(calls) == 8:
            raise RuntimeError("the power went out")
        return functional.mse_loss(prediction, target)

    file, model = tmp_path / "run.safetensors", network()
    with pytest.raises(RuntimeError, match="power"):
        gt.fit(
            model,
            DATA,
            failing,
            optimiser=gt.optim.AdamW(gt.optim.schedules.cosine(0.02, 60)),
            epochs=6,
            batch_size=12,
            validation=HELD_OUT,
            metrics={"error": functional.l1_loss},
            rng=np.random.default_rng(5),
            early_stopping=gt.EarlyStopping(patience=10),
            jit=False,
            checkpoint=file,
            checkpoint_every=2,
        )
    assert json.loads(read(file)[1]["position"])["batch"] == 2
    second = network(seed=3)
    assert bits(second, fitted(second, checkpoint=file, resume=True)) == whole


def test_parameters_and_a_loss_are_trained_without_a_module() -> None:
    """Nested parameters are fitted by a loss of theirs; what was given stays, and variables are updated."""
    start = {"w": np.zeros((3, 1)), "b": np.zeros(1)}
    error = lambda p, x, y: ((x @ p["w"] + p["b"] - y) ** 2).mean()
    target = X @ np.array([[1.0], [-2.0], [0.5]]) + 3.0
    history = gt.fit(start, (X, target), error, optimiser=gt.optim.SGD(0.2), epochs=60, batch_size=10, jit=False)
    np.testing.assert_allclose(history.params["w"][:, 0], [1.0, -2.0, 0.5], atol=1e-3)
    assert not start["w"].any()
    held = {"w": gt.Variable(np.zeros((3, 1))), "b": gt.Variable(np.zeros(1))}
    gt.fit(held, (X, target), error, optimiser=gt.optim.SGD(0.2), epochs=60, batch_size=10, jit=False)
    np.testing.assert_allclose(held["b"].numpy(), [3.0], atol=1e-3)


def test_compiled_and_not_compiled_learn_the_same() -> None:
    """jit changes the speed, and the numbers by rounding only."""
    plain = gt.nn.Sequential(gt.nn.Dense(3, 4), gt.nn.Dropout(0.2), gt.nn.Dense(4, 1))
    options: dict[str, Any] = {"optimiser": gt.optim.SGD(0.1), "batch_size": 10}
    losses = [fitted(plain.initialise(np.random.default_rng(0)), jit=jit, **options)["loss"] for jit in (True, False)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_a_step_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with running averages, which change, and are written back to the model after each epoch, and dropout."""
    traced: list[Any] = []
    compile_call = api.compile_call

    def counted(*args: Any) -> Any:
        traced.append(args)
        return compile_call(*args)

    monkeypatch.setattr(api, "compile_call", counted)
    nn, rng = gt.nn, np.random.default_rng(5)
    model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
    model.initialise(rng)
    x = rng.normal(size=(40, 3)).astype(np.float32)
    data = (x, x[:, :1])
    gt.fit(model, data, nn.functional.mse_loss, epochs=4, batch_size=10, rng=rng, validation=data)
    assert len(traced) == 2  # a step, and the validation
    assert model[1].num_batches_tracked == 16
    start = {"slope": np.array(0.0)}
    gt.fit(start, (x[:, 0], x[:, 0]), lambda p, x, y: np.mean((p["slope"] * x - y) ** 2), epochs=3, batch_size=10)
    assert len(traced) == 3


def test_early_stopping_restores_the_best() -> None:
    """When the validation loss gets no better, training ends, and the model is that of the best epoch."""
    model = gt.nn.Dense(3, 1, rng=np.random.default_rng(0))
    seen: list[Any] = []
    history = gt.fit(
        model,
        DATA,
        functional.mse_loss,
        optimiser=gt.optim.SGD(lambda count: np.where(count < 12, 0.05, 1.5)),
        epochs=50,
        batch_size=12,
        validation=HELD_OUT,
        early_stopping=3,
        jit=False,
        callbacks=[lambda epoch, numbers: seen.append(model.params["weight"])],
    )
    assert history.stopped == "early"
    assert history.best_epoch is not None
    assert len(history) == history.best_epoch + 4
    assert history["validation_loss"][history.best_epoch] == min(history["validation_loss"])
    np.testing.assert_array_equal(model.params["weight"], seen[history.best_epoch])


def test_callbacks_stop_and_set_the_learning_rate() -> None:
    """True stops after that epoch; a rate that is set counts from the next batch on."""
    opt = gt.optim.SGD(0.1)

    def callback(epoch: int, numbers: dict[str, float]) -> bool:
        opt.learning_rate = 0.0
        return epoch == 2

    history = gt.fit(gt.nn.Dense(3, 1, rng=np.random.default_rng(0)), DATA, functional.mse_loss, optimiser=opt,
                     epochs=9, batch_size=40, callbacks=[callback], jit=False)  # fmt: skip
    assert len(history) == 3
    assert history["loss"][1] == history["loss"][2] < history["loss"][0]


def test_data_may_be_batches() -> None:
    """A list of batches, and any object that can be gone through again, is as good as arrays."""

    class Loader:
        def __iter__(self) -> Iterator[Any]:
            yield from ((DATA[0][i : i + 12], DATA[1][i : i + 12]) for i in range(0, 40, 12))

    options: dict[str, Any] = {"epochs": 2, "batch_size": 12, "optimiser": gt.optim.SGD(0.1), "jit": False}
    losses = [
        gt.fit(gt.nn.Dense(3, 1, rng=np.random.default_rng(0)), data, functional.mse_loss, **options)["loss"]
        for data in (DATA, Loader(), list(Loader()))
    ]
    assert losses[0] == losses[1] == losses[2]


def test_what_goes_wrong_in_a_step_leaves_the_last_good_state() -> None:
    """A loss that becomes NaN is an error that names the batch, and the model has the numbers from before it."""
    model = gt.nn.Dense(3, 1, rng=np.random.default_rng(0))
    bad = X[:40].copy()
    bad[30] = np.nan
    with (
        pytest.raises(gt.NumericsError, match="1 of 12 examples have NaN or infinity in array 0 of batch 2 of epoch 0"),
        pytest.warns(gt.NumericsWarning),
    ):
        gt.fit(model, (bad, Y[:40]), functional.mse_loss, batch_size=12, jit=False)
    assert np.isfinite(model.weight.numpy()).all()
    one_batch = gt.nn.Dense(3, 1, rng=np.random.default_rng(0))
    gt.fit(one_batch, (bad[:24], Y[:24]), functional.mse_loss, batch_size=12, epochs=1, jit=False)
    np.testing.assert_array_equal(model.weight.numpy(), one_batch.weight.numpy())


@pytest.mark.filterwarnings("ignore::gradtape.NumericsWarning")  # which names the line, too
@pytest.mark.parametrize("check", [True, False])
def test_a_loss_that_grows_is_not_blamed_on_the_data(check: bool) -> None:
    """Where the batches are finite and the step is not, the gradient or the loss is named."""
    huge = lambda params, x: np.sum(np.exp(params * 800 + 0 * x))
    optimiser = gt.optim.SGD(1.0, check_finite=check)
    says = "SGD: the gradient" if check else "the loss is inf in batch 0 of epoch 0"
    with np.errstate(all="ignore"), pytest.raises(gt.NumericsError, match=says):
        gt.fit(np.array(1.0), (np.ones(3),), huge, optimiser=optimiser)


def once() -> Iterator[Any]:
    yield DATA


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"checkpoint_every": 0}, "checkpoint_every=0"),
        ({"checkpoint_every": 2}, "checkpoint_every=2 without a checkpoint"),
        ({"callbacks": print}, "not a list of functions"),
        ({"callbacks": [3]}, "not a list of functions"),
        ({"checkpoint": "no/such/place.safetensors"}, r"no directory no/such for .*\n.*\n.*\n  fix: os.makedirs"),
        ({"checkpoint": "."}, "is a directory"),
        ({"validation": X[:6]}, "the prediction and 0 arrays of a batch of validation"),
        ({"model": gt.nn.Sequential(gt.nn.Tanh())}, "no parameters to train"),
        ({"validation": (X[:6], Y[:6]), "metrics": {"far": np.subtract}, "epochs": 1}, r"far has shape \(6, 1\)"),
        ({"epochs": 0}, "epochs=0"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"optimiser": gt.optim.Adam}, "optimiser is the class Adam"),
        ({"optimiser": gt.optim.LBFGS()}, "several times a step"),
        ({"loss": "mse"}, "loss is a str"),
        ({"rng": 3}, "rng is a int"),
        ({"resume": True}, "resume=True without a checkpoint"),
        ({"metrics": {"error": functional.l1_loss}}, "metrics without validation"),
        ({"early_stopping": 3}, "watches 'validation_loss', and there is 'loss'"),
        ({"early_stopping": "soon"}, "early_stopping is a str"),
        ({"data": (X, Y[:10])}, r"shapes \(50, 3\), \(10, 1\)"),
        ({"data": (X[:0], Y[:0])}, "no examples"),
        ({"data": once()}, "gone through once only"),
        ({"data": 3}, "data is a int"),
        ({"data": [X, Y]}, "a batch of data is a ndarray"),
        ({"loss": lambda prediction: prediction.sum()}, "the prediction and 1 arrays of a batch of data, and too many"),
        ({"loss": lambda prediction, target: prediction}, "the loss returned shape"),
        ({"data": []}, "an epoch had no batches"),
        ({"model": gt.nn.Dense(3, 1)}, "has no numbers yet"),
        ({"model": {"w": np.ones(2, int)}}, "dtype int64"),
    ],
)
def test_mistakes_are_explained(options: dict[str, Any], says: str) -> None:
    """What a user gets wrong is answered before anything is trained."""
    model = options.pop("model", None) or gt.nn.Dense(3, 1, rng=np.random.default_rng(0))
    data, loss = options.pop("data", DATA), options.pop("loss", functional.mse_loss)
    with pytest.raises(gt.GradTapeError, match=says) as caught:
        gt.fit(model, data, loss, **options)
    assert caught.value.problem.fixes


def stored(tmp_path: Path) -> Path:
    file = tmp_path / "run.safetensors"
    fitted(network(), epochs=1, checkpoint=file)
    return file


def test_a_model_is_loaded_from_the_checkpoint_of_its_run(tmp_path: Path) -> None:
    """`gt.nn.load` takes the parameters and statistics out of a run; another model's are refused as from any file."""
    file, model = tmp_path / "run.safetensors", network()
    fitted(model, epochs=1, checkpoint=file)
    loaded = gt.nn.load(file, network(seed=7)).state_dict()
    assert all(np.array_equal(value, loaded[name]) for name, value in model.state_dict().items())
    other = gt.nn.Dense(3, 1, rng=np.random.default_rng(0))
    with pytest.raises(gt.nn.CheckpointError, match="of another model"):
        gt.nn.load(file, other)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"optimiser": gt.optim.SGD(0.1)}, "its optimiser was 'AdamW', and now it is 'SGD'"),
        ({"batch_size": 10}, "its batch size was 12, and now it is 10"),
        ({"rng": None}, r"its shuffling \(by rng=\) was True, and now it is False"),
        ({"optimiser": gt.optim.AdamW(amsgrad=True)}, "'state.largest.0.weight'"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    """What differs is named, and model and generators are as they were."""
    file, model, rng = stored(tmp_path), network(seed=7), np.random.default_rng(5)
    before, state = model.state_dict(), rng.bit_generator.state
    with pytest.raises(gt.nn.CheckpointError, match=says):
        fitted(model, checkpoint=file, resume=True, **{"rng": rng, **options})
    assert all(np.array_equal(value, before[name]) for name, value in model.state_dict().items())
    assert rng.bit_generator.state == state


def test_a_checkpoint_of_another_model_or_of_no_run_is_refused(tmp_path: Path) -> None:
    """Other shapes, and files that are no runs, are told apart."""
    file = stored(tmp_path)
    wide = gt.nn.Sequential(gt.nn.Dense(3, 9), gt.nn.Dense(9, 1)).initialise(np.random.default_rng(0))
    with pytest.raises(gt.nn.CheckpointError, match="of another run"):
        fitted(wide, checkpoint=file, resume=True)
    gt.nn.save(file, network())
    with pytest.raises(gt.nn.CheckpointError, match="not the checkpoint of a run"):
        fitted(network(), checkpoint=file, resume=True)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(gt.nn.CheckpointError, match="is damaged"):
        fitted(network(), checkpoint=file, resume=True)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("position", "{}", "makes no sense"),
        ("position", "[[", "makes no sense"),
        ("generators", "[]", "the states of 0 generators, and there are 2"),
        ("generators", '[{"bit_generator": "PCG64"}, 3]', "makes no sense"),
        ("generators", '[{"array": ["__import__"], "dtype": "object"}, 1]', "makes no sense"),
        ("records", "[1, 2, 3]", "makes no sense"),
        ("facts", "7", "of another run"),
    ],
)
def test_a_run_with_a_forged_description_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    """Texts that do not describe this run are refused, and generators and model are as they were."""
    file, model, rng = stored(tmp_path), network(seed=7), np.random.default_rng(5)
    arrays, texts = read(file)
    gt.nn.save(file, arrays, {**texts, name: text})
    before = rng.bit_generator.state, model.state_dict()["0.weight"].tobytes()
    with pytest.raises(gt.nn.CheckpointError, match=says):
        fitted(model, checkpoint=file, resume=True, rng=rng)
    assert (rng.bit_generator.state, model.state_dict()["0.weight"].tobytes()) == before


def test_a_forged_order_is_refused(tmp_path: Path) -> None:
    """The order of the examples has to be a permutation of them."""
    file = stored(tmp_path)
    arrays, texts = read(file)
    gt.nn.save(file, {**arrays, "order": np.full(40, 10**9)}, texts)
    with pytest.raises(gt.nn.CheckpointError, match="not a permutation"):
        fitted(network(), checkpoint=file, resume=True)


def test_resume_without_a_file_begins_and_a_finished_run_goes_on(tmp_path: Path) -> None:
    """The same call begins, and with more epochs goes on; other kinds of generators are stored too."""
    file = tmp_path / "run.safetensors"
    mersenne = lambda: np.random.Generator(np.random.MT19937(3))
    model = network()
    whole = bits(model, fitted(model, rng=mersenne()))
    assert len(fitted(network(), epochs=2, checkpoint=file, resume=True, rng=mersenne())) == 2
    second = network()
    assert bits(second, fitted(second, checkpoint=file, resume=True, rng=mersenne())) == whole


def test_the_history_shows_itself(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As text, as HTML and as a plot; where matplotlib is missing the plot is the text."""
    history = History({"loss": [3.0, 2.0, float("nan")], "<b>": [1.0, 1.0, 1.0]}, None, "early", 1)
    assert "3 epochs, early, best epoch 1" in repr(history)
    page = history._repr_html_()
    assert "<svg" in page
    assert "&lt;b&gt;" in page
    assert "<b>:" not in page
    with pytest.raises(KeyError, match="'accuracy'; there are 'loss'"):
        history["accuracy"]
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert history.plot() is None
    assert "█" in capsys.readouterr().out
    assert sparkline([]) == ""
    assert len(sparkline(list(range(1000)))) == 40
    assert History({}, None, "finished")._repr_html_()

    class Axes:
        def __init__(self) -> None:
            self.called: list[str] = []

        def __getattr__(self, name: str) -> Any:
            return lambda *args, **kwargs: self.called.append(name)

    axes = Axes()
    assert history.plot(axes) is axes
    assert axes.called == ["plot", "plot", "axvline", "set_title", "set_xlabel", "set_ylabel", "legend"]


def test_the_history_is_a_chart_with_axes() -> None:
    """In a notebook the chart has the title, both axes and the best epoch; a table has four numbers for each curve."""
    page = History({"loss": [3.0, 1.0, 2.0]}, None, "early", 1)._repr_html_()
    for words in ("History of 3 epochs, early, best epoch 1", ">epoch<", ">loss<", ">best<", "lowest", "highest"):
        assert words in page
    numbers = ("3", "1", "3", "2")
    cells = "".join(f'<td style="padding:0.15em 0.8em;text-align:right">{number}</td>' for number in numbers)
    assert cells in page


def test_progress_is_a_bar_or_a_line_an_epoch_or_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With tqdm there is a bar, without it plain lines, and nothing where nobody looks."""
    model = gt.nn.Dense(3, 1, rng=np.random.default_rng(0))
    options: dict[str, Any] = {"epochs": 2, "batch_size": 20, "jit": False}
    gt.fit(model, DATA, functional.mse_loss, **options)
    assert capsys.readouterr().err == ""
    gt.fit(model, DATA, functional.mse_loss, progress=True, **options)
    assert "4/4" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    gt.fit(model, DATA, functional.mse_loss, progress=True, **options)
    assert capsys.readouterr().err.startswith("epoch 1/2  loss ")


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("has_own", [True, False], ids=["a generator of its own", "none of its own"])
def test_dropout_draws_from_the_generator_that_fit_is_given(jit: bool, has_own: bool) -> None:
    """The same seed gives the same losses, another one others; a layer without a generator needs none then."""

    def losses(seed: int) -> Any:
        model = gt.nn.Sequential(gt.nn.Dense(3, 8), gt.nn.Dropout(0.5), gt.nn.Dense(8, 1))
        model.initialise(np.random.default_rng(1))
        model[1].rng = np.random.default_rng() if has_own else None
        data = iter_of_batches(DATA)
        options = {"epochs": 2, "rng": np.random.default_rng(seed), "jit": jit}
        return gt.fit(model, data, functional.mse_loss, optimiser=gt.optim.SGD(0.05), **options).records["loss"]

    assert losses(4) == losses(4)
    assert losses(4) != losses(5)


def iter_of_batches(data: Any) -> list[Any]:
    """Batches in a fixed order, which no generator shuffles."""
    return [tuple(array[start : start + 10] for array in data) for start in range(0, 40, 10)]


def test_a_run_is_not_taken_up_from_a_file_with_a_flipped_bit(tmp_path: Path) -> None:
    """Every 97th bit of the checkpoint flipped: it is refused with an explanation, or nothing of the run differs."""
    path = tmp_path / "run"
    fitted(network(small=True), epochs=1, checkpoint=path)
    content, whole = path.read_bytes(), read(path)
    for bit in range(0, 8 * len(content), 97):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            arrays, texts = read(path)
        except gt.nn.CheckpointError as error:
            refusal = str(error)
        else:  # the flip was in the name of the checksums, which leaves them among the texts
            refusal = ""
            assert arrays.keys() == whole[0].keys()
            assert all(value.tobytes() == whole[0][name].tobytes() for name, value in arrays.items())
            assert {name: texts.get(name) for name in whole[1]} == whole[1]
        assert not refusal or "nothing was loaded" in refusal
