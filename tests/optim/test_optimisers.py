"""Optimisers: pure, compiled to the same numbers, grouped and clipped as asked; bad input leaves all as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.errors import JitWarning
from gradtape.optim.leaves import named_leaves

EVERY = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Lion"]
OPTIONS: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
    "Adam": {"amsgrad": True, "weight_decay": 0.01},
    "RMSprop": {"momentum": 0.9, "centered": True},
}


def made(name: str, **options: Any) -> Any:
    return getattr(gt.optim, name)(**{"learning_rate": 0.05, **OPTIONS.get(name, {}), **options})


def start(dtype: Any = np.float64) -> dict[str, Any]:
    return {"dense": {"w": np.array([[1.0, -2.0], [0.5, 3.0]], dtype), "b": np.array([0.3, -0.7], dtype)}}


def loss(params: Any) -> Any:
    return gt.log(1 + params["dense"]["w"] ** 2).sum() + ((params["dense"]["b"] - 1) ** 2).sum()


def run(opt: Any, steps: int = 5, compiled: bool = False, dtype: Any = np.float64) -> tuple[Any, Any]:
    def step(params: Any, state: Any) -> Any:
        return opt.update(gt.grad(loss)(params), state, params)

    function: Any = gt.jit(step) if compiled else step
    params = start(dtype)
    state = opt.init(params)
    for _ in range(steps):
        params, state = function(params, state)
    assert not compiled or function.stats.traces == 1
    return params, state


@pytest.mark.parametrize("name", EVERY)
def test_compiled_and_not_compiled_give_the_same(name: str) -> None:
    """A whole step under jit is traced once and gives the numbers of the step itself, state included."""
    one, other = run(made(name)), run(made(name), compiled=True)
    for a, b in zip(named_leaves(one), named_leaves(other), strict=True):
        np.testing.assert_allclose(a[1], b[1], rtol=1e-12, err_msg=a[0])


@pytest.mark.parametrize("name", EVERY)
def test_the_loss_falls_and_float32_stays(name: str) -> None:
    """Each optimiser makes the loss smaller, and parameters and slots keep their dtype."""
    params, state = run(made(name), 30, dtype=np.float32)
    assert loss(params) < loss(start())
    arrays = [x for _, x in named_leaves((params, {k: v for k, v in state.items() if np.ndim(v)}))]
    assert all(x.dtype == np.float32 for x in arrays)


@pytest.mark.parametrize("name", EVERY)
def test_variables_get_what_the_function_returns(name: str) -> None:
    """`step` on variables ends where `update` on arrays does."""
    params, _ = run(made(name), 4)
    variables = {"dense": {key: gt.Variable(value) for key, value in start()["dense"].items()}}
    opt = made(name)
    for _ in range(4):
        with gt.GradientTape() as tape:
            value = loss(variables)
        opt.step(variables, tape.gradient(value, variables))
    for key, variable in variables["dense"].items():
        np.testing.assert_array_equal(variable.numpy(), params["dense"][key])


def test_update_changes_nothing_that_it_is_given() -> None:
    """Parameters, gradients and state are as before the call."""
    opt, params = made("Adam"), start()
    state = opt.init(params)
    grads = gt.grad(loss)(params)
    before = [np.array(x) for _, x in named_leaves((params, grads, state))]
    opt.update(grads, state, params)
    after = [x for _, x in named_leaves((params, grads, state))]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_lion_by_hand() -> None:
    """Two steps of Lion are those of its formula."""
    opt, p = gt.optim.Lion(0.1, (0.9, 0.5), weight_decay=0.2), np.array([1.0, -2.0])
    state, moment = opt.init(p), np.zeros(2)
    expected = p
    for gradient in (np.array([0.3, -4.0]), np.array([-1.0, 2.0])):
        p, state = opt.update(gradient, state, p)
        expected = expected * (1 - 0.1 * 0.2) - 0.1 * np.sign(0.9 * moment + 0.1 * gradient)
        moment = 0.5 * moment + 0.5 * gradient
    np.testing.assert_allclose(p, expected)


def test_backward_gradients_are_used_when_none_are_given() -> None:
    """`step(variables)` takes what `.backward()` has left in `.grad`."""
    w = gt.Variable([1.0, 2.0]).requires_grad_()
    (w * w).sum().backward()
    gt.optim.SGD(0.5).step([w])
    assert w.numpy().tolist() == [0.0, 0.0]


def test_groups_have_options_of_their_own() -> None:
    """The first group that fits a leaf's name decides; a learning rate of its own counts too."""
    groups = [("*.b", {"weight_decay": 0.0, "learning_rate": 1.0}), (lambda path, leaf: leaf.ndim == 2, {})]
    opt = gt.optim.SGD(0.1, weight_decay=1.0, groups=groups)
    params, zeros = start(), {"dense": {"w": np.zeros((2, 2)), "b": np.ones(2)}}
    new, _ = opt.update(zeros, opt.init(params), params)
    np.testing.assert_allclose(new["dense"]["w"], params["dense"]["w"] * 0.9)
    np.testing.assert_allclose(new["dense"]["b"], params["dense"]["b"] - 1.0)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("SGD", {"momentum": 0.5}),
        ("Adam", {"amsgrad": True}),
        ("Adam", {"betas": (0.1, 0.2)}),
        ("RMSprop", {"momentum": 0.5, "centered": True}),
        ("NAdam", {"betas": (0.1, 0.2), "momentum_decay": 0.5}),
        ("Adagrad", {"initial_accumulator_value": 3.0}),
    ],
)
def test_a_group_is_as_an_optimiser_of_its_own(name: str, option: dict[str, Any]) -> None:
    """Leaves of a group go where an optimiser with those options takes them, and the others where one without does."""
    plain, changed = (getattr(gt.optim, name)(0.05, **options) for options in ({}, option))
    grouped = getattr(gt.optim, name)(0.05, groups=[("*.b", option)])
    both, _ = run(grouped, 6)
    compiled, _ = run(grouped, 6, compiled=True)
    np.testing.assert_array_equal(both["dense"]["w"], run(plain, 6)[0]["dense"]["w"])
    np.testing.assert_array_equal(both["dense"]["b"], run(changed, 6)[0]["dense"]["b"])
    np.testing.assert_allclose(compiled["dense"]["b"], both["dense"]["b"], rtol=1e-12)
    if name != "Adam" or "betas" in option:  # amsgrad makes a difference only when gradients shrink
        assert not np.array_equal(both["dense"]["b"], run(plain, 6)[0]["dense"]["b"])


def test_clipping_limits_the_step() -> None:
    """By norm all gradients shrink together, by value each number for itself; small ones stay."""
    grads = {"a": np.array([3.0]), "b": np.array([4.0]), "c": None}
    clipped = gt.optim.clip_by_norm(grads, 1.0)
    assert clipped["c"] is None
    assert gt.optim.global_norm(clipped) == pytest.approx(1.0, rel=1e-5)
    assert gt.optim.clip_by_norm(grads, 10.0)["a"].tolist() == [3.0]
    opt = gt.optim.SGD(1.0, clip_value=0.5)
    assert opt.update(np.array([9.0, 0.1]), opt.init(np.zeros(2)), np.zeros(2))[0].tolist() == [-0.5, -0.1]
    opt = gt.optim.SGD(1.0, clip_norm=1.0)
    np.testing.assert_allclose(opt.update(np.array([30.0]), opt.init(np.zeros(1)), np.zeros(1))[0], [-1.0], rtol=1e-6)


def test_a_schedule_is_part_of_the_program() -> None:
    """The learning rate changes from step to step without another trace, and as without jit."""
    schedule = gt.optim.schedules.warmup(gt.optim.schedules.cosine(0.1, 5), 2)
    one, other = run(gt.optim.SGD(schedule), 6), run(gt.optim.SGD(schedule), 6, compiled=True)
    np.testing.assert_allclose(one[0]["dense"]["w"], other[0]["dense"]["w"], rtol=1e-12)


def test_setting_the_learning_rate_needs_no_new_trace() -> None:
    """A rate that is set between compiled steps counts in the next."""
    w, opt = gt.Variable([0.0]), gt.optim.SGD(1.0)
    opt.build([w])
    step = gt.jit(lambda gradient: opt.step([w], [gradient]))
    step(np.ones(1))
    opt.learning_rate = 0.5
    step(np.ones(1))
    assert w.numpy().tolist() == [-1.5]
    assert float(opt.learning_rate) == 0.5


def test_state_dict_goes_round_and_refuses_another() -> None:
    """A stored state goes on as the original; one of another optimiser or shape is refused, and nothing changes."""
    w, v = gt.Variable([1.0, 2.0]), gt.Variable([1.0, 2.0])
    one, other = made("Adam"), made("Adam")
    for _ in range(2):
        one.step([w], [np.ones(2)])
    other.load_state_dict(one.state_dict(), [v])
    v.assign(w)
    one.step([w], [np.ones(2)])
    other.step([v], [np.ones(2)])
    assert np.array_equal(w.numpy(), v.numpy())
    with pytest.raises(gt.StructureError, match=r"(is|are) missing"):
        other.load_state_dict(made("SGD").state_dict(), [v])
    with pytest.raises(gt.ShapeError, match=r"shape \(2,\) in what is given, and \(3,\)"):
        other.load_state_dict(one.state_dict(), [gt.Variable(np.ones(3))])
    assert int(other.state["count"]) == 3


def broken(**changes: Any) -> tuple[Any, Any, Any]:
    params = start()
    grads = gt.grad(loss)(params)
    return {"dense": {**grads["dense"], **changes}}, made("Adam").init(params), params


NAN = np.array([0.0, np.nan])


@pytest.mark.parametrize(
    ("grads", "kind", "says"),
    [
        ({"b": NAN}, gt.NumericsError, r"gradient of 'dense.b' is NaN in 1 of 2 numbers"),
        ({"b": np.array([np.inf, 0.0])}, gt.NumericsError, r"gradient of 'dense.b' is infinite in 1 of 2"),
        ({"b": None}, gt.UntrackedError, r"gradient of 'dense.b' is None"),
        ({"b": np.ones(3)}, gt.ShapeError, r"gradient of 'dense.b' has shape \(3,\); the parameter has \(2,\)"),
        ({"b": np.ones(2, int)}, gt.DtypeError, r"gradient of 'dense.b' has dtype int64"),
        ({"c": np.ones(2)}, gt.StructureError, r"different structures"),
    ],
)
def test_wrong_gradients_are_refused_and_nothing_changes(grads: Any, kind: Any, says: str) -> None:
    """The leaf is named with the cause; variables and state are as they were, compiled or not."""
    given, state, params = broken(**grads)
    with pytest.raises(kind, match=says) as caught:
        made("Adam").update(given, state, params)
    assert "nothing was updated" in str(caught.value)
    assert caught.value.problem.fixes
    if set(given["dense"]) == {"w", "b"}:
        variables = {key: gt.Variable(value) for key, value in params["dense"].items()}
        opt = made("Adam")
        opt.step(variables, gt.grad(loss)(params)["dense"])
        before = [v.numpy().tolist() for v in variables.values()], {k: v.tolist() for k, v in opt.state_dict().items()}
        with pytest.raises(kind, match=says.replace("dense.", "")):
            opt.step(variables, given["dense"])
        after = [v.numpy().tolist() for v in variables.values()], {k: v.tolist() for k, v in opt.state_dict().items()}
        assert before == after


def test_nan_is_found_in_a_compiled_step() -> None:
    """A program that ran well before refuses a NaN like the function does, and goes on after it."""
    opt = made("Adam")
    step = gt.jit(lambda g, state, params: opt.update(g, state, params))
    params = np.ones(2)
    params, state = step(np.ones(2), opt.init(params), params)
    with pytest.raises(gt.NumericsError, match="is NaN in 1 of 2"):
        step(NAN, state, params)
    again, _ = step(np.ones(2), state, params)
    assert np.isfinite(again).all()


def test_what_is_allowed_when_asked_for() -> None:
    """`allow_none` leaves such leaves and their slots alone; `check_finite=False` lets NaN through."""
    opt, params = made("SGD", allow_none=True), {"a": np.ones(1), "b": np.ones(1)}
    new, _ = opt.update({"a": None, "b": np.ones(1)}, opt.init(params), params)
    assert new["a"].tolist() == [1.0]
    assert new["b"] < 1
    loose = gt.optim.SGD(0.1, check_finite=False)
    assert np.isnan(loose.update(NAN, loose.init(np.ones(2)), np.ones(2))[0][1])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: gt.optim.SGD(-1.0), "learning_rate=-1.0"),
        (lambda: gt.optim.SGD(lr=0.1), r"no option 'lr'(.|\n)*fix: learning_rate="),
        (lambda: gt.optim.Adam(weight_decy=0.1), r"no option 'weight_decy'(.|\n)*fix: weight_decay="),
        (lambda: gt.optim.SGD("fast"), "learning_rate='fast'"),
        (lambda: gt.optim.SGD(nesterov=True), "nesterov=True with momentum=0.0"),
        (lambda: gt.optim.Adam(betas=(0.9, 1.0)), r"betas=\(0.9, 1.0\)"),
        (lambda: gt.optim.Adam(betas=0.9), "betas=0.9"),
        (lambda: gt.optim.Adam([gt.Variable(1.0)], 0.1), "parameters were given"),
        (lambda: gt.optim.Adam(eps=None), "eps=None"),
        (lambda: gt.optim.AdamW(weight_decay="0.1"), "weight_decay='0.1'"),
        (lambda: gt.optim.SGD(np.inf), "learning_rate=inf"),
        (lambda: gt.optim.Adadelta(rho=2.0), "rho=2.0"),
        (lambda: gt.optim.Rprop(etas=0.5), "etas=0.5"),
        (lambda: gt.optim.SGD(groups=[("*", {"learning_rate": -1.0})]), "learning_rate=-1.0"),
        (lambda: gt.optim.Adam(weight_decay=-1.0), "weight_decay=-1.0"),
        (lambda: gt.optim.Adam(clip_norm=0), "clip_norm=0"),
        (lambda: gt.optim.Adam(groups=[("*", {"momentum": 1})]), "option 'momentum'"),
        (lambda: gt.optim.Adam(groups=["*.bias"]), "pairs"),
        (lambda: gt.optim.Adam().init({"n": np.array([1, 2])}), "'n' has dtype int64"),
        (lambda: gt.optim.Adam().init({"n": "text"}), "'n' is a str"),
        (lambda: gt.optim.Adam().init(np.ones(2, complex)), "dtype complex128"),
        (lambda: gt.optim.Adam().update(np.ones(2), {}, np.ones(2)), "the state is a dictionary with"),
        (lambda: gt.optim.Adam().update(np.ones(2), None, np.ones(2)), "the state is a NoneType"),
        (
            lambda: gt.optim.Adam().update(np.ones(2), gt.optim.Adam().init(np.ones(3)), np.ones(2)),
            r"'first' of the parameter has shape \(3,\)",
        ),
        (lambda: gt.optim.Adam().step([np.ones(2)], [np.ones(2)]), "'0' is a ndarray; gt.Variable is accepted"),
        (lambda: gt.optim.Adam().step([gt.Variable(1.0)]), "none of the variables has a .grad"),
        (lambda: run(gt.optim.SGD(lambda count: None)), "the schedule returned a NoneType"),
        (lambda: gt.optim.clip_by_norm([np.ones(1)], -1), "max_norm=-1"),
        (lambda: gt.optim.LBFGS(line_search_fn="armijo"), "line_search_fn='armijo'"),
        (lambda: gt.optim.schedules.step(0.1, 0), "step_size=0"),
        (lambda: gt.optim.schedules.piecewise([1, 2], [0.1, 0.2]), "2 boundaries and 2 rates"),
        (lambda: gt.optim.schedules.one_cycle(0.1, 10, anneal_strategy="log"), "anneal_strategy='log'"),
        (lambda: gt.optim.schedules.Plateau(factor=2.0), "factor=2.0"),
    ],
)
def test_mistakes_are_explained(wrong: Any, says: str) -> None:
    """What a user gets wrong is answered with what was given and what is accepted."""
    with pytest.raises(gt.GradTapeError, match=says) as caught:
        wrong()
    assert caught.value.problem.fixes


def test_a_step_that_was_not_built_says_so_when_compiled() -> None:
    """Inside jit the state has to be there beforehand; the warning says which call makes it."""
    w, opt = gt.Variable([1.0]), made("Adam")
    step = gt.jit(lambda gradient: opt.step([w], [gradient]))
    with pytest.warns(JitWarning, match=r"opt.build\(variables\)"):
        step(np.ones(1))
    assert float(w) < 1


def test_lbfgs_finds_the_minimum_of_a_valley() -> None:
    """With the line search it reaches the minimum of Rosenbrock's function."""
    opt = gt.optim.LBFGS(line_search_fn="strong_wolfe", max_iter=100, tolerance_change=1e-15)
    params = np.array([-1.2, 1.0])
    valley = gt.value_and_grad(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
    value, params, _ = opt.minimise_step(valley, opt.init(params), params)
    assert value == pytest.approx(24.2)
    np.testing.assert_allclose(params, [1.0, 1.0], atol=1e-6)


def test_lbfgs_leaves_variables_alone_when_the_loss_fails() -> None:
    """Whatever the closure raises, and a NaN, leave the variables and the state as they were."""
    w, opt, calls = gt.Variable([4.0]), gt.optim.LBFGS(), []

    def closure() -> Any:
        calls.append(w.numpy().tolist())
        if len(calls) > 2:
            raise KeyboardInterrupt
        return w.numpy()[0] ** 2, [2 * w.numpy()]

    with pytest.raises(KeyboardInterrupt):
        opt.step([w], closure)
    assert len(calls) == 3
    assert w.numpy().tolist() == [4.0]
    assert opt.state is None
    with pytest.raises(gt.NumericsError, match="gradient of '0' is NaN"):
        opt.step([w], lambda: (1.0, [np.array([np.nan])]))
    with pytest.raises(gt.NumericsError, match="the loss is inf"):
        opt.step([w], lambda: (np.inf, [np.ones(1)]))
    assert w.numpy().tolist() == [4.0]


def test_plateau_waits_reduces_and_rests() -> None:
    """The rate falls after more than `patience` epochs without improvement, not below its minimum, in both modes."""
    plateau, rates = gt.optim.schedules.Plateau(factor=0.5, patience=1, cooldown=2, min_rate=0.2), [1.0]
    for _ in range(12):
        rates.append(plateau.step(rates[-1], 1.0))
    assert rates[:5] == [1.0, 1.0, 1.0, 0.5, 0.5]
    assert rates[-1] == 0.2
    upwards = gt.optim.schedules.Plateau(mode="max", patience=0, factor=0.5)
    assert [upwards.step(1.0, metric) for metric in (1.0, 2.0, 2.0)] == [1.0, 1.0, 0.5]


def test_another_learning_rate_is_no_other_program() -> None:
    """A compiled step reads the rate from the state: one trace for all rates, each of which counts."""
    opt = gt.optim.SGD(0.5)
    step = gt.jit(lambda grads, state, params: opt.update(grads, state, params))
    params, state = np.ones(3), opt.init(np.ones(3))
    for rate in (0.5, 0.25, 0.125):
        opt.learning_rate = rate
        found, _ = step(np.ones(3), {**state, "learning_rate": np.float64(rate)}, params)
        np.testing.assert_array_equal(found, 1.0 - rate)
    assert step.stats.traces == 1


def test_a_state_belongs_to_its_variables() -> None:
    """What is remembered of one variable never moves another: other variables, or another order, are refused."""
    one, other, opt = gt.Variable(np.zeros(2)), gt.Variable(np.zeros(2)), gt.optim.Adam(0.1)
    opt.step([one], [np.ones(2)])
    for wrong in ([other], [one, other]):
        with pytest.raises(gt.StructureError, match="an optimiser of their own"):
            opt.step(wrong, [np.ones(2) for _ in wrong])
    assert other.numpy().tolist() == [0.0, 0.0]
    opt.load_state_dict(opt.state_dict(), [other])
    opt.step([other], [np.ones(2)])
    with pytest.raises(gt.StructureError, match="others, or in another order"):
        opt.apply_gradients([(np.ones(2), one)])
    pair = gt.optim.SGD(0.1, momentum=0.9)
    pair.build([one, other])
    with pytest.raises(gt.StructureError, match="another order"):
        pair.step([other, one], [np.ones(2), np.ones(2)])


def test_lbfgs_belongs_to_its_variables_and_wants_a_gradient() -> None:
    """The curvature that was seen is of these variables; a function without a gradient is named."""
    one, other, opt = gt.Variable([5.0]), gt.Variable([5.0]), gt.optim.LBFGS()
    opt.step([one], lambda: ((one.numpy() ** 2).sum(), [2 * one.numpy()]))
    with pytest.raises(gt.StructureError, match="LBFGS: the state was made for 1 variables"):
        opt.step([other], lambda: ((other.numpy() ** 2).sum(), [2 * other.numpy()]))
    with pytest.raises(gt.OperandError, match="the loss and its gradient are wanted"):
        opt.minimise_step(lambda x: (x**2).sum(), opt.init(np.ones(2)), np.ones(2))


def test_a_tensor_is_told_of_variables() -> None:
    """`step` on tensors that require a gradient names what can be changed instead."""
    with pytest.raises(gt.OperandError) as caught:
        gt.optim.SGD(0.1).step([gt.tensor([1.0], requires_grad=True)])
    assert "gt.Variable(x)" in str(caught.value)
