"""Training: optimisers, `gt.fit`, layers with dropout, and the bits of every number on the way."""

import warnings

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
x, y = rng.normal(size=(32, 3)), rng.normal(size=(32, 1))
model = gt.nn.Sequential(gt.nn.Linear(3, 8, rng=rng), gt.nn.ReLU(), gt.nn.Linear(8, 1, rng=rng))
adam = gt.optim.Adam(0.05)
for _ in range(5):
    with gt.GradientTape() as tape:
        loss = np.mean((model(x) - y) ** 2)
    adam.step(list(model.parameters()), tape.gradient(loss, list(model.parameters())))
    print(repr(float(loss)))
print([parameter.numpy().tolist() for parameter in model.parameters()])


def squared(params, inputs, targets):
    return np.mean((np.tanh(inputs @ params["w"] * 20.0) + params["b"] - targets) ** 2)


start = {"w": np.ones((3, 1)), "b": np.zeros(1)}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    fitted = gt.fit(start, (x, y), squared, epochs=3, batch_size=10, rng=np.random.default_rng(1))
print(fitted)
print({name: np.asarray(value).tolist() for name, value in fitted.params.items()})
weights = gt.Variable(rng.normal(size=(3, 1)))
for _ in range(9):
    for begin in range(0, 32, 10):
        with gt.GradientTape() as tape:
            part = np.sum((x[begin : begin + 10] @ weights - y[begin : begin + 10]) ** 2)
        weights.assign_sub(0.001 * tape.gradient(part, weights))
print(weights.numpy().tolist())
