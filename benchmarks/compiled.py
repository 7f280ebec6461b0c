"""The workloads of `jit.py`: each function once where the libraries spell it alike, and one step of each library.

Data and steps are as in `workloads.py`: NumPy arrays in, `(value, gradients)` out as NumPy. Rivals that cannot compile
a plain Python loop of hundreds of steps get theirs rewritten with `lax.scan`; gradtape never does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from workloads import (
    SEED,
    Answer,
    Builder,
    Data,
    Loss,
    Step,
    black_scholes,
    chain,
    logistic_autograd,
    logistic_data,
    logistic_gradtape,
    logistic_torch,
    mixture_autograd,
    mixture_data,
    mixture_gradtape,
    mixture_torch,
    mlp_autograd,
    mlp_data,
    mlp_gradtape,
    mlp_torch,
    options_data,
    pressure,
    pressure_data,
    rnn,
    rnn_data,
    rosenbrock,
    rosenbrock_data,
    spelt_by_gradtape,
    with_autograd,
    with_gradtape_jit,
    with_torch,
)


@dataclass(frozen=True)
class Row:
    """One row of the table: data, contenders by name, and what the machine has to do at the least."""

    name: str
    label: str
    data: Callable[[], Data]
    contenders: dict[str, Builder]
    flops: float = 0.0  # of its matrix products, there and back
    bytes: float = 0.0  # that have to be read and written once, if all is one loop
    notes: str = ""


# -- one step of each library


def with_gradtape_function(loss: Loss) -> Builder:
    """The function alone, compiled: what the gradient is compared with."""

    def build(data: Data) -> Step:
        import gradtape as gt

        run = gt.jit(partial(spelt_by_gradtape, loss))
        return lambda: (run(*data.parameters, **data.constants), [])

    return build


def with_jax(loss: Loss) -> Builder:
    """`jax.jit(jax.value_and_grad(loss))`; what stands still is on the device from the start."""

    def build(data: Data) -> Step:
        import jax

        jax.config.update("jax_enable_x64", True)
        constants = {name: jax.numpy.asarray(array) for name, array in data.constants.items()}
        run = jax.jit(jax.value_and_grad(lambda parameters, constants: loss(jax.numpy, *parameters, **constants)))

        def step() -> Answer:
            value, gradients = run(data.parameters, constants)
            return float(value), [np.asarray(gradient) for gradient in gradients]

        return step

    return build


def with_torch_compile(loss: Loss) -> Builder:
    """`torch.compile(loss)`, then `autograd.grad`, as in `with_torch`."""

    def build(data: Data) -> Step:
        import torch

        constants = {name: torch.from_numpy(array) for name, array in data.constants.items()}
        run = torch.compile(lambda *leaves: loss(torch, *leaves, **constants))

        def step() -> Answer:
            leaves = [torch.from_numpy(p).requires_grad_() for p in data.parameters]
            value = run(*leaves)
            return value.item(), [gradient.numpy() for gradient in torch.autograd.grad(value, leaves)]

        return step

    return build


def everywhere(
    loss: Loss,
    jax: Loss | None = None,
    torch: Loss | None = None,
    autograd: Loss | None = None,
    without: tuple[str, ...] = (),
) -> dict[str, Builder]:
    """All contenders of a function; a library with words of its own for it, or a rewritten one, is given by name."""
    contenders = {
        "gradtape": with_gradtape_jit(loss),
        "gradtape: function": with_gradtape_function(loss),
        "jax: jit": with_jax(jax or loss),
        "torch: eager": with_torch(torch or loss),
        "torch: compile": with_torch_compile(torch or loss),
        "autograd": with_autograd(autograd or loss),
    }
    return {name: build for name, build in contenders.items() if name not in without}


# -- networks


def mlp_jax(jnp: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, labels: Any) -> Any:
    import jax

    hidden = jax.nn.relu(x @ w1 + b1)
    hidden = jax.nn.relu(hidden @ w2 + b2)
    log_p = jax.nn.log_softmax(hidden @ w3 + b3)
    return -jnp.mean(log_p[jnp.arange(len(labels)), labels])


def mlp_products(batch: int = 128) -> float:
    """Floating point operations of the products: one forward, two backward, but none for the gradient of the data."""
    sizes = (784, 256, 128, 10)
    layers = [2.0 * batch * a * b for a, b in itertools.pairwise(sizes)]
    return 3 * sum(layers) - layers[0]


def softmax_data() -> Data:
    rng = np.random.default_rng(SEED)
    w, b = (0.05 * rng.standard_normal((784, 10))).astype(np.float32), np.zeros(10, np.float32)
    return Data((w, b), {"x": rng.standard_normal((1024, 784)).astype(np.float32), "labels": rng.integers(0, 10, 1024)})


def softmax_regression(log_softmax: Callable[[Any], Any], xp: Any, w: Any, b: Any, x: Any, labels: Any) -> Any:
    log_p = log_softmax(x @ w + b)
    return -xp.mean(log_p[np.arange(len(labels)), labels]) + 1e-4 * xp.sum(w * w)


def _log_softmax(library: str) -> Callable[[Any], Any]:
    def run(logits: Any) -> Any:
        if library == "gradtape":
            import gradtape as gt

            return gt.log_softmax(logits)
        if library == "jax":
            import jax

            return jax.nn.log_softmax(logits)
        if library == "torch":
            import torch

            return torch.log_softmax(logits, 1)
        from autograd.scipy.special import logsumexp

        return logits - logsumexp(logits, axis=1, keepdims=True)

    return run


def convnet_data() -> Data:
    rng = np.random.default_rng(SEED)
    shapes = [(8, 1, 3, 3), (8,), (16, 8, 3, 3), (16,), (16 * 49, 10), (10,)]
    parameters = tuple((rng.standard_normal(s) / math.sqrt(math.prod(s[1:]) or 1)).astype(np.float32) for s in shapes)
    images = rng.standard_normal((32, 1, 28, 28)).astype(np.float32)
    return Data(parameters, {"x": images, "labels": rng.integers(0, 10, 32)})


def convnet(library: str, xp: Any, k1: Any, b1: Any, k2: Any, b2: Any, w: Any, b: Any, x: Any, labels: Any) -> Any:
    convolve, pool, relu = _layers(library)
    hidden = pool(relu(convolve(x, k1) + b1[:, None, None]))
    hidden = pool(relu(convolve(hidden, k2) + b2[:, None, None]))
    log_p = _log_softmax(library)(hidden.reshape((len(labels), -1)) @ w + b)
    return -xp.mean(log_p[np.arange(len(labels)), labels])


def _layers(library: str) -> tuple[Any, Any, Any]:
    if library == "jax":
        import jax
        from jax import lax

        layout = ("NCHW", "OIHW", "NCHW")
        window = ((1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return (
            lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=layout),
            lambda x: lax.reduce_window(x, np.float32(-np.inf), lax.max, *window),
            jax.nn.relu,
        )
    if library == "torch":
        from torch.nn import functional
    else:
        from gradtape.nn import functional
    return (
        lambda x, k: functional.conv2d(x, k, padding=1),
        lambda x: functional.max_pool2d(x, 2),
        functional.relu,
    )


# -- LSTM, as in ADBench: two layers, gates of each element by itself, the next input predicted

LSTM_LENGTH, LSTM_WIDTH, LSTM_LAYERS = 256, 14, 2


def lstm_data() -> Data:
    rng = np.random.default_rng(SEED)
    main = 0.5 * rng.standard_normal((LSTM_LAYERS, 2, 4, LSTM_WIDTH))
    extra = 0.5 * rng.standard_normal((3, LSTM_WIDTH))
    state = 0.5 * rng.standard_normal((LSTM_LAYERS, 2, LSTM_WIDTH))
    return Data((main, extra), {"state": state, "x": rng.uniform(0.0, 1.0, (LSTM_LENGTH, LSTM_WIDTH))})


def lstm_step(xp: Any, main: Any, extra: Any, state: Any, x: Any) -> tuple[Any, Any]:
    x, states = x * extra[0], []
    for layer in range(LSTM_LAYERS):
        weight, bias = main[layer, 0], main[layer, 1]
        hidden, cell = state[layer]
        forget = 1.0 / (1.0 + xp.exp(-(x * weight[0] + bias[0])))
        ingate = 1.0 / (1.0 + xp.exp(-(hidden * weight[1] + bias[1])))
        outgate = 1.0 / (1.0 + xp.exp(-(x * weight[2] + bias[2])))
        cell = cell * forget + ingate * xp.tanh(hidden * weight[3] + bias[3])
        x = outgate * xp.tanh(cell)
        states.append((x, cell))
    return states, x * extra[1] + extra[2]


def _scored(xp: Any, guess: Any, wanted: Any) -> Any:
    return xp.sum(wanted * (guess - xp.log(2.0 + xp.sum(xp.exp(guess)))))


def lstm(xp: Any, main: Any, extra: Any, state: Any, x: Any) -> Any:
    states, total = [(state[i, 0], state[i, 1]) for i in range(LSTM_LAYERS)], 0.0
    for t in range(LSTM_LENGTH - 1):
        states, guess = lstm_step(xp, main, extra, states, x[t])
        total = total + _scored(xp, guess, x[t + 1])
    return -total / ((LSTM_LENGTH - 1) * LSTM_WIDTH)


def lstm_jax(jnp: Any, main: Any, extra: Any, state: Any, x: Any) -> Any:
    from jax import lax

    def step(states: Any, pair: Any) -> Any:
        states, guess = lstm_step(jnp, main, extra, states, pair[0])
        return states, _scored(jnp, guess, pair[1])

    start = [(state[i, 0], state[i, 1]) for i in range(LSTM_LAYERS)]
    return -jnp.sum(lax.scan(step, start, (x[:-1], x[1:]))[1]) / ((LSTM_LENGTH - 1) * LSTM_WIDTH)


# -- Gaussian mixture, as in ADBench: full covariances, given by the triangle of their inverse square root


def full_mixture_data(d: int, k: int, n: int = 1000) -> Data:
    rng = np.random.default_rng(SEED)
    parameters = (
        rng.standard_normal(k),
        rng.standard_normal((k, d)),
        0.3 * rng.standard_normal((k, d)),
        0.3 * rng.standard_normal((k, d * (d - 1) // 2)),
    )
    # where each element of the lower triangle is in the list of them; the last place is a zero
    places = np.full((d, d), d * (d - 1) // 2)
    places[np.tril_indices(d, -1)] = np.arange(d * (d - 1) // 2)
    return Data(parameters, {"x": rng.standard_normal((n, d)), "places": places})


def full_mixture(library: str, xp: Any, alphas: Any, means: Any, logs: Any, lower: Any, x: Any, places: Any) -> Any:
    logsumexp = _logsumexp(library)
    zero = lower[:, :1] * 0.0 if lower.shape[1] else logs[:, :1] * 0.0
    triangle = (xp.cat if library == "torch" else xp.concatenate)([lower, zero], 1)[:, places]
    centred = x[:, None, :] - means
    turned = xp.exp(logs) * centred + xp.einsum("kij,nkj->nki", triangle, centred)
    inner = alphas + xp.sum(logs, 1) - 0.5 * xp.sum(turned * turned, 2)
    prior = 0.5 * (xp.sum(xp.exp(2.0 * logs)) + xp.sum(lower * lower)) - xp.sum(logs)
    return xp.sum(logsumexp(inner, 1)) - x.shape[0] * logsumexp(alphas, 0) - prior


def _logsumexp(library: str) -> Callable[[Any, int], Any]:
    def run(x: Any, axis: int) -> Any:
        if library == "gradtape":
            import gradtape as gt

            return gt.logsumexp(x, axis=axis)
        if library == "jax":
            import jax

            return jax.scipy.special.logsumexp(x, axis=axis)
        if library == "torch":
            import torch

            return torch.logsumexp(x, axis)
        from autograd.scipy.special import logsumexp

        return logsumexp(x, axis=axis)

    return run


def spelt_for(loss: Callable[..., Any], *libraries: str) -> dict[str, Loss]:
    """`loss`, whose first argument is a library's name, once for each."""
    names = libraries or ("gradtape", "jax", "torch", "autograd")
    return {"loss" if name == "gradtape" else name: partial(loss, name) for name in names}


# -- loops over time steps

BODIES, ORBIT_STEPS = 8, 100


def orbit_data() -> Data:
    rng = np.random.default_rng(SEED)
    return Data((rng.standard_normal((BODIES, 3)), 0.1 * rng.standard_normal((BODIES, 3))))


def attraction(xp: Any, x: Any) -> Any:
    apart = x[None, :, :] - x[:, None, :]
    square = xp.sum(apart * apart, -1) + 0.05
    return xp.sum(apart / (square * xp.sqrt(square))[:, :, None], 1)


def leap(xp: Any, x: Any, v: Any) -> Any:
    x = x + 0.01 * v
    return x, v + 0.01 * attraction(xp, x)


def orbits(xp: Any, x: Any, v: Any) -> Any:
    for _ in range(ORBIT_STEPS):
        x, v = leap(xp, x, v)
    return xp.sum(x * x) + xp.sum(v * v)


def orbits_jax(jnp: Any, x: Any, v: Any) -> Any:
    from jax import lax

    (x, v), _ = lax.scan(lambda pair, _: (leap(jnp, *pair), None), (x, v), None, ORBIT_STEPS)
    return jnp.sum(x * x) + jnp.sum(v * v)


HEAT_STEPS = 500


def heat_data(size: int = 64) -> Data:
    rng = np.random.default_rng(SEED)
    return Data((rng.standard_normal((size, size)),), {"wanted": rng.standard_normal((size - 2, size - 2))})


def _warmed(u: Any) -> Any:
    return u[1:-1, 1:-1] + 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])


def heat(xp: Any, u: Any, wanted: Any) -> Any:
    for _ in range(HEAT_STEPS):
        u = xp.pad(_warmed(u), 1)
    return xp.mean((u[1:-1, 1:-1] - wanted) ** 2)


def heat_torch(torch: Any, u: Any, wanted: Any) -> Any:
    for _ in range(HEAT_STEPS):
        u = torch.nn.functional.pad(_warmed(u), (1, 1, 1, 1))
    return torch.mean((u[1:-1, 1:-1] - wanted) ** 2)


def heat_autograd(anp: Any, u: Any, wanted: Any) -> Any:
    for _ in range(HEAT_STEPS):
        u = anp.pad(_warmed(u), 1, "constant")
    return anp.mean((u[1:-1, 1:-1] - wanted) ** 2)


def heat_jax(jnp: Any, u: Any, wanted: Any) -> Any:
    from jax import lax

    u, _ = lax.scan(lambda u, _: (jnp.pad(_warmed(u), 1), None), u, None, HEAT_STEPS)
    return jnp.mean((u[1:-1, 1:-1] - wanted) ** 2)


def ode_data() -> Data:
    return Data((np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0])))


def _predators(p: Any, y: Any) -> Any:
    prey, hunters = y
    return p[0] * prey - p[1] * prey * hunters, p[2] * prey * hunters - p[3] * hunters


def _rk4(p: Any, y: Any, h: float = 0.05) -> Any:
    k1 = _predators(p, y)
    k2 = _predators(p, tuple(a + 0.5 * h * b for a, b in zip(y, k1, strict=True)))
    k3 = _predators(p, tuple(a + 0.5 * h * b for a, b in zip(y, k2, strict=True)))
    k4 = _predators(p, tuple(a + h * b for a, b in zip(y, k3, strict=True)))
    return tuple(a + h / 6.0 * (b + 2.0 * c + 2.0 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4, strict=True))


def ode(steps: int, xp: Any, p: Any, start: Any) -> Any:
    y = (start[0], start[1])
    for _ in range(steps):
        y = _rk4(p, y)
    return y[0] * y[0] + y[1] * y[1]


def ode_jax(steps: int, jnp: Any, p: Any, start: Any) -> Any:
    from jax import lax

    y, _ = lax.scan(lambda y, _: (_rk4(p, y), None), (start[0], start[1]), None, steps)
    return y[0] * y[0] + y[1] * y[1]


# -- derivatives of other kinds


def bundle_data(observations: int = 1000) -> Data:
    rng = np.random.default_rng(SEED)
    cameras = rng.standard_normal((observations, 11)) * 0.1 + np.array([0.1] * 3 + [0.0] * 3 + [1.0] + [0.0] * 4)
    points = rng.standard_normal((observations, 3)) + np.array([0.0, 0.0, 4.0])
    return Data((cameras, points, np.ones(observations)), {"seen": rng.standard_normal((observations, 2))})


def projected(xp: Any, camera: Any, point: Any, weight: Any, seen: Any) -> Any:
    """The error of one observation: rotate (Rodrigues), project, distort."""
    rotation, centre = camera[0:3], camera[3:6]
    away = point - centre
    angle = xp.sqrt(xp.sum(rotation * rotation))
    axis = rotation / angle
    cosine, sine = xp.cos(angle), xp.sin(angle)
    a0, a1, a2, x0, x1, x2 = axis[0], axis[1], axis[2], away[0], away[1], away[2]
    along = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - cosine)
    r0 = x0 * cosine + (a1 * x2 - a2 * x1) * sine + a0 * along
    r1 = x1 * cosine + (a2 * x0 - a0 * x2) * sine + a1 * along
    r2 = x2 * cosine + (a0 * x1 - a1 * x0) * sine + a2 * along
    u, v = r0 / r2, r1 / r2
    square = u * u + v * v
    bent = 1.0 + camera[9] * square + camera[10] * square * square
    return weight * (xp.stack([u * bent * camera[6] + camera[7], v * bent * camera[6] + camera[8]]) - seen)


def _bundle_step(run: Callable[..., Any], data: Data, seen: Any, given: Any) -> Step:
    def step() -> Answer:
        blocks = run(*given(data.parameters), seen)
        return 0.0, [np.asarray(block) for block in blocks]

    return step


def bundle_gradtape(data: Data) -> Step:
    import gradtape as gt

    run = gt.jit(gt.vmap(gt.jacobian(partial(projected, gt), (0, 1, 2))))
    return _bundle_step(run, data, data.constants["seen"], tuple)


def bundle_jax(data: Data) -> Step:
    import jax

    jax.config.update("jax_enable_x64", True)
    run = jax.jit(jax.vmap(jax.jacrev(partial(projected, jax.numpy), (0, 1, 2))))
    return _bundle_step(run, data, jax.numpy.asarray(data.constants["seen"]), tuple)


def _bundle_torch(compiled: bool) -> Builder:
    def build(data: Data) -> Step:
        import torch

        run = torch.func.vmap(torch.func.jacrev(partial(projected, torch), (0, 1, 2)))
        seen = torch.from_numpy(data.constants["seen"])
        given = lambda arrays: [torch.from_numpy(array) for array in arrays]
        return _bundle_step(torch.compile(run) if compiled else run, data, seen, given)

    return build


def _directions(data: Data) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(SEED + 1)
    return tuple(rng.standard_normal(p.shape).astype(p.dtype) for p in data.parameters)


def hvp_gradtape(data: Data) -> Step:
    import gradtape as gt

    @gt.jit
    def run(parameters: Any, directions: Any, x: Any, labels: Any) -> Any:
        gradient = gt.grad(lambda p: mlp_gradtape(gt, *p, x=x, labels=labels))
        return gt.jvp(gradient, (parameters,), (directions,))[1]

    directions = _directions(data)
    return lambda: (0.0, run(data.parameters, directions, **data.constants))


def hvp_jax(data: Data) -> Step:
    import jax

    @jax.jit
    def run(parameters: Any, directions: Any, constants: Any) -> Any:
        gradient = jax.grad(lambda p: mlp_jax(jax.numpy, *p, **constants))
        return jax.jvp(gradient, (parameters,), (directions,))[1]

    directions = _directions(data)
    constants = {name: jax.numpy.asarray(array) for name, array in data.constants.items()}
    return lambda: (0.0, [np.asarray(a) for a in run(data.parameters, directions, constants)])


def hvp_torch(data: Data) -> Step:
    import torch

    constants = {name: torch.from_numpy(array) for name, array in data.constants.items()}
    directions = [torch.from_numpy(d) for d in _directions(data)]

    def step() -> Answer:
        leaves = [torch.from_numpy(p).requires_grad_() for p in data.parameters]
        gradients = torch.autograd.grad(mlp_torch(torch, *leaves, **constants), leaves, create_graph=True)
        along = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))
        return 0.0, [h.numpy() for h in torch.autograd.grad(along, leaves)]

    return step


# -- the table of them

MILLION = 8e6  # bytes of a million numbers in double precision


def _long_chain() -> Data:
    return Data((np.random.default_rng(SEED).uniform(0.1, 1.0, 100_000),))


ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        Row("rosenbrock", "Rosenbrock, 10", partial(rosenbrock_data, 10), everywhere(rosenbrock)),
        Row(
            "rosenbrock6",
            "Rosenbrock, 1e6",
            partial(rosenbrock_data, 1_000_000),
            everywhere(rosenbrock),
            bytes=2 * MILLION,
        ),
        Row(
            "logistic",
            "logistic regression, 2000 x 50",
            logistic_data,
            everywhere(
                logistic_gradtape,
                jax=lambda jnp, w, x, signs: jnp.mean(jnp.logaddexp(0.0, -signs * (x @ w))) + 0.01 * jnp.sum(w * w),
                torch=logistic_torch,
                autograd=logistic_autograd,
            ),
        ),
        Row("chain", "chain, 10", lambda: Data((_long_chain().parameters[0][:10],)), everywhere(chain)),
        Row("chain5", "chain, 1e5", _long_chain, everywhere(chain)),
        Row("black_scholes", "Black-Scholes, 1e6", options_data, everywhere(black_scholes), bytes=6 * MILLION),
        Row(
            "mlp",
            "MLP, batch 128, f32",
            mlp_data,
            everywhere(mlp_gradtape, mlp_jax, mlp_torch, mlp_autograd),
            flops=mlp_products(),
        ),
        Row("rnn", "RNN, 50 steps, batch 16, f32", rnn_data, everywhere(rnn)),
        Row(
            "ode",
            "ODE, 200 steps of RK4",
            ode_data,
            everywhere(partial(ode, 200), jax=partial(ode_jax, 200), without=("torch: compile",)),
            notes="jax's loop is rewritten with lax.scan; torch.compile does not finish",
        ),
        Row(
            "ode2000",
            "ODE, 2000 steps of RK4",
            ode_data,
            everywhere(partial(ode, 2000), jax=partial(ode_jax, 2000), without=("torch: compile", "autograd")),
            notes="the same",
        ),
        Row("pressure", "pressure field, 96^3", pressure_data, everywhere(pressure), bytes=3 * 8 * 96**3),
        Row(
            "mixture",
            "mixture, 1000 x 10, 25",
            mixture_data,
            everywhere(
                mixture_gradtape,
                jax=lambda jnp, logits, means, log_scales, x: _mixture_jax(jnp, logits, means, log_scales, x),
                torch=mixture_torch,
                autograd=mixture_autograd,
            ),
        ),
        Row(
            "softmax",
            "softmax regression, 1024 x 784, f32",
            softmax_data,
            everywhere(**spelt_for(lambda library, *a, **k: softmax_regression(_log_softmax(library), *a, **k))),
            flops=2 * 2.0 * 1024 * 784 * 10,
        ),
        Row(
            "convnet",
            "convolutional net, batch 32, f32",
            convnet_data,
            everywhere(**spelt_for(convnet, "gradtape", "jax", "torch"), without=("autograd",)),
        ),
        Row(
            "lstm",
            f"LSTM of ADBench, {LSTM_LENGTH} steps",
            lstm_data,
            everywhere(lstm, jax=lstm_jax, without=("torch: compile",)),
            notes="jax's loop is rewritten with lax.scan",
        ),
        *(
            Row(
                f"gmm_{d}_{k}",
                f"GMM of ADBench, d {d}, k {k}",
                partial(full_mixture_data, d, k),
                everywhere(**spelt_for(full_mixture)),
            )
            for d in (2, 10, 64)
            for k in (5, 25, 100)
        ),
        Row(
            "bundle",
            "bundle adjustment, Jacobian of 1000",
            bundle_data,
            {
                "gradtape": bundle_gradtape,
                "jax: jit": bundle_jax,
                "torch: eager": _bundle_torch(False),
                "torch: compile": _bundle_torch(True),
            },
        ),
        Row(
            "hvp",
            "MLP, Hessian times vector, f32",
            mlp_data,
            {"gradtape": hvp_gradtape, "jax: jit": hvp_jax, "torch: eager": hvp_torch},
        ),
        Row(
            "orbits",
            f"n-body, {ORBIT_STEPS} steps",
            orbit_data,
            everywhere(orbits, jax=orbits_jax, without=("torch: compile",)),
            notes="jax's loop is rewritten with lax.scan",
        ),
        Row(
            "heat",
            f"heat equation, 64 x 64, {HEAT_STEPS} steps",
            heat_data,
            everywhere(heat, jax=heat_jax, torch=heat_torch, autograd=heat_autograd, without=("torch: compile",)),
            notes="jax's loop is rewritten with lax.scan",
        ),
    )
}


def _mixture_jax(jnp: Any, logits: Any, means: Any, log_scales: Any, x: Any) -> Any:
    import jax

    scaled = (x[:, None, :] - means) * jnp.exp(-log_scales)
    inner = jax.nn.log_softmax(logits) - jnp.sum(log_scales, axis=1) - 0.5 * jnp.sum(scaled * scaled, axis=2)
    return jnp.mean(jax.scipy.special.logsumexp(inner, axis=1))
