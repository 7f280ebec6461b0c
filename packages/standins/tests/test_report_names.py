"""The names of parameters of the stand-ins' modules in a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.explain.report import Collector
from gradtape_standins import tensorflow
from gradtape_standins import torch as pytorch

tf: Any = tensorflow
torch: Any = pytorch


def test_parameters_of_torch_modules_have_their_paths() -> None:
    """The sources of `backward` are named as in `named_parameters`."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    with Collector() as collector:
        model(torch.ones(4, 3)).sum().backward()
    names = {source.name for source in collector.gradients[0].sources}
    assert names == {name for name, _ in model.named_parameters()}


def test_variables_of_keras_layers_are_told_apart() -> None:
    """The kernels of two layers, which have one name, have different names in a report."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)])
    with Collector() as collector:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(tf.constant(np.ones((4, 3), np.float32))))
        tape.gradient(loss, model.trainable_variables)
    names = [source.name for source in collector.gradients[0].sources]
    assert len(set(names)) == 4
    assert [name.rpartition(".")[2] for name in names] == ["kernel", "bias", "kernel", "bias"]
