"""The names of parameters in a report: their paths in the module or nested structure that the user holds."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.explain.report import Collector, of_tape
from gradtape.explain.report.fold import LEAVES_APART, fold
from gradtape.explain.report.paths import paths_of_leaves, paths_within, pattern_of
from gradtape.nn import Dense, LayerNorm, Module


class Block(Module):
    """A layer with its norm."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.norm = LayerNorm(3, rng=rng)
        self.fc = Dense(3, 3, rng=rng)

    def forward(self, x: Any) -> Any:
        return gt.relu(self.fc(self.norm(x)))


class Model(Module):
    """Blocks in a list, and a parameter that is written as a variable."""

    def __init__(self, rng: np.random.Generator, count: int = 4) -> None:
        self.scale = gt.Variable(np.float32(1.0))
        self.blocks = [Block(rng) for _ in range(count)]

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x * self.scale


def report_of(model: Model) -> Any:
    """The report of a gradient by all parameters of a model."""
    with gt.GradientTape(persistent=True) as tape:
        loss = (model(np.ones((2, 3), np.float32)) ** 2).sum()
    tape.gradient(loss, model.parameters())
    return of_tape(tape)


def test_parameters_of_modules_have_their_paths() -> None:
    """A source is named as in `named_parameters` of the outermost module, not by the line that made it."""
    model = Model(np.random.default_rng(0))
    names = [source.name for source in report_of(model).gradients[0].sources]
    assert names == [name for name, _ in model.named_parameters()]


def test_the_same_parameter_of_repeated_layers_is_one_node() -> None:
    """Where there are many parameters, those that differ by the number of their layer are one node with all of them."""
    report = report_of(Model(np.random.default_rng(0)))
    leaves = [group for group in fold(report.gradients[0]).groups if group.kind == "leaf"]
    assert {(group.label, group.count) for group in leaves} == {
        ("scale", 1),
        ("blocks.*.norm.weight", 4),
        ("blocks.*.norm.bias", 4),
        ("blocks.*.fc.weight", 4),
        ("blocks.*.fc.bias", 4),
    }
    weights = next(group for group in leaves if group.label == "blocks.*.fc.weight")
    norms = [source.gradient.norm for source in report.gradients[0].sources if source.name.endswith("fc.weight")]
    assert weights.gradient is not None
    np.testing.assert_allclose(weights.gradient.norm, np.linalg.norm(norms))
    assert "blocks.3.fc.weight" in report.to_html()


def test_a_few_parameters_are_nodes_of_their_own() -> None:
    """As long as there are few, every parameter is its own node."""
    report = report_of(Model(np.random.default_rng(0), count=2))
    leaves = [group for group in fold(report.gradients[0]).groups if group.kind == "leaf"]
    assert len(leaves) == 9 <= LEAVES_APART


def test_two_models_are_told_apart() -> None:
    """Where parameters of two models are asked for, paths begin with the class of the model."""
    one, other = Model(np.random.default_rng(0), 1), Dense(3, 1, rng=np.random.default_rng(1))
    with gt.GradientTape(persistent=True) as tape:
        loss = other(one(np.ones((2, 3), np.float32))).sum()
    tape.gradient(loss, [one.scale, other.weight])
    assert [source.name for source in of_tape(tape).gradients[0].sources] == ["Model.scale", "Dense.weight"]


def test_a_module_that_holds_its_owner_is_no_obstacle() -> None:
    """Modules may refer to each other in a circle."""
    model = Model(np.random.default_rng(0), 1)
    vars(model.blocks[0].norm)["owner"] = model
    bias: Any = model.blocks[0].fc.bias
    assert len(report_of(model).gradients[0].sources) == 5
    assert paths_within([model, *model.blocks], [bias]) == {id(bias): "blocks.0.fc.bias"}


def test_nested_structures_have_their_paths() -> None:
    """The leaves of nested parameters are named by the way to them, those of an argument without parts by its name."""

    def loss(params: Any, x: Any) -> Any:
        for layer in params["layers"]:
            x = np.tanh(x @ layer["w"])
        return (x * params["head"]).sum()

    params = {"layers": [{"w": np.eye(2)}, {"w": np.eye(2)}], "head": np.ones(2)}
    variables = Dense(1, 1, rng=np.random.default_rng(0)), gt.Variable([1.0, 2.0])
    with Collector() as collector:
        gt.grad(loss)(params, np.ones((3, 2)))
        gt.grad(loss, argnums=1)(params, np.ones((3, 2)))
        with gt.GradientTape() as tape:
            total = (variables[1] * 2.0).sum()
        tape.gradient(total, {"offsets": [variables[1]]})
    named = [[source.name for source in facts.sources] for facts in collector.gradients]
    assert named == [["layers.0.w", "layers.1.w", "head"], ["x"], ["offsets.0"]]


def test_what_the_user_has_named_keeps_its_name() -> None:
    """A name that was given to a variable is shown, and not its path."""
    model = Model(np.random.default_rng(0), 1)
    model.scale = gt.Variable(np.float32(1.0), name="loudness")
    assert report_of(model).gradients[0].sources[0].name == "loudness"


def test_names_of_several_variables_give_way_to_paths() -> None:
    """Where several variables were given one name, as layers of Keras do, their paths tell them apart."""
    model = Model(np.random.default_rng(0), 1)
    model.scale = gt.Variable(np.float32(1.0), name="kernel")
    vars(model.blocks[0].fc)["bias"] = gt.Variable(np.zeros(3, np.float32), name="kernel")
    names = [source.name for source in report_of(model).gradients[0].sources]
    assert "kernel" not in names
    assert {"scale", "blocks.0.fc.bias"} <= set(names)


def test_names_in_structures_and_patterns() -> None:
    """Fields of named tuples and keys are parts of a path; numbers alone are none, and are stars in patterns."""
    assert paths_of_leaves([1.0, [2.0]]) == ["", ""]
    assert paths_of_leaves({"a": (1.0, {"b": 2.0})}) == ["a.0", "a.1.b"]
    assert pattern_of("10.weight") == "*.weight"
    assert pattern_of("layer10.weight") == "layer10.weight"


def test_markup_in_paths_is_escaped() -> None:
    """A key with markup in it is text in the page."""
    key = "<img src=x onerror=alert(1)>"
    with Collector() as collector:
        gt.grad(lambda params: (params[key][0] ** 2 + params[key][1]).sum())({key: [np.ones(2), np.ones(2)]})
    page = collector.report().to_html()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;.0" in page
