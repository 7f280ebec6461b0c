"""The cases in which layers, optimisers and schedules are compared with PyTorch: the names and arguments are its own.

`digest` makes a few numbers of each case. `tests/nn/conformance.py` computes both sides where PyTorch is installed;
`tests/nn/pytorch_numbers.json` has what PyTorch said, for where it is not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gradtape as gt

STORED = Path(__file__).parent / "pytorch_numbers.json"


@dataclass(frozen=True)
class LayerCase:
    """A layer: the arguments that make it, and the shapes of what it is called with; integers if they have a bound."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    shapes: tuple[tuple[int, ...], ...] = ()
    labels: int = 0
    training: bool = True
    call: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        options = "".join(f", {name}={value}" for name, value in {**self.kwargs, **self.call}.items())
        mode = "" if self.training else ", eval"
        return f"{self.name}{self.args}{options} of {self.shapes}{mode}"

    def inputs(self) -> list[Any]:
        rng = np.random.default_rng(7)
        if self.labels:
            return [rng.integers(0, self.labels, shape) for shape in self.shapes]
        return [rng.normal(size=shape) for shape in self.shapes]

    def layer(self) -> gt.nn.Module:
        own = {"axis" if name == "dim" else name: value for name, value in self.kwargs.items()}
        layer: gt.nn.Module = getattr(gt.nn, self.name)(*self.args, **own)
        fresh = layer.init(np.random.default_rng(3))
        rng = np.random.default_rng(4)
        moved = {name: value + 0.1 * rng.normal(size=value.shape) for name, value in _flat(fresh).items()}
        moved = {name: value.astype(np.float64) for name, value in moved.items()}
        buffers = {name: np.array(value) for name, value in layer.named_buffers()}
        for name, value in buffers.items():
            if name.endswith("running_mean"):
                buffers[name] = value + 0.25
        return _doubled(layer, moved, buffers).train(self.training)


def _flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree.items():
        path = f"{prefix}.{name}" if prefix else name
        found.update(_flat(value, path) if isinstance(value, dict) else {path: value})
    return found


def _doubled(layer: gt.nn.Module, params: dict[str, Any], buffers: dict[str, Any]) -> gt.nn.Module:
    """The layer in double precision, with these numbers in it."""
    for prefix, module in layer.named_modules():
        for name in list(vars(module)):
            path = f"{prefix}.{name}" if prefix else name
            if path in buffers:
                value = buffers[path].astype(np.float64) if buffers[path].dtype.kind == "f" else buffers[path]
                setattr(module, name, gt.Variable(value, trainable=False))
        for name in module._declared:
            setattr(module, name, gt.Variable(params[f"{prefix}.{name}" if prefix else name]))
    return layer


IMAGE, SIGNAL, VOLUME = ((2, 4, 6, 5),), ((2, 4, 7),), ((2, 2, 4, 4, 3),)
SEQUENCE, MASK = ((5, 3, 4),), np.triu(np.ones((5, 5), bool), 1)


def _layers() -> list[LayerCase]:
    cases = [
        LayerCase("Linear", (3, 2), shapes=((5, 3),)),
        LayerCase("Linear", (3, 2), {"bias": False}, ((4, 5, 3),)),
        LayerCase("Bilinear", (3, 4, 2), shapes=((5, 3), (5, 4))),
        LayerCase("Embedding", (7, 3), shapes=((4, 2),), labels=7),
        LayerCase("Embedding", (7, 3), {"padding_idx": 2}, ((4, 5),), labels=7),
        LayerCase("Conv1d", (4, 6, 3), {"padding": 1, "stride": 2}, SIGNAL),
        LayerCase("Conv1d", (4, 6, 3), {"padding": "same", "dilation": 2, "groups": 2}, SIGNAL),
        LayerCase("Conv2d", (4, 6, 3), shapes=IMAGE),
        LayerCase("Conv2d", (4, 6, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "bias": False}, IMAGE),
        LayerCase("Conv2d", (4, 4, 3), {"groups": 4, "padding": 1}, IMAGE),
        LayerCase("Conv3d", (2, 3, 2), {"padding": 1}, VOLUME),
        LayerCase("ConvTranspose1d", (4, 6, 3), {"stride": 2, "output_padding": 1}, SIGNAL),
        LayerCase("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "groups": 2}, IMAGE),
        LayerCase("ConvTranspose2d", (4, 2, 2), {"dilation": 2, "bias": False}, IMAGE),
        LayerCase("ConvTranspose3d", (2, 3, 2), {"stride": 2}, VOLUME),
        LayerCase("LayerNorm", (5,), shapes=IMAGE),
        LayerCase("LayerNorm", ((6, 5),), {"bias": False}, IMAGE),
        LayerCase("RMSNorm", (5,), {"eps": 1e-6}, IMAGE),
        LayerCase("GroupNorm", (2, 4), shapes=IMAGE),
        LayerCase("GroupNorm", (4, 4), {"affine": False}, SIGNAL),
    ]
    for training in (True, False):
        cases += [
            LayerCase("BatchNorm1d", (4,), shapes=((6, 4),), training=training),
            LayerCase("BatchNorm1d", (4,), {"momentum": None}, SIGNAL, training=training),
            LayerCase("BatchNorm2d", (4,), {"momentum": 0.3, "eps": 1e-3}, IMAGE, training=training),
            LayerCase("BatchNorm2d", (4,), {"affine": False, "track_running_stats": False}, IMAGE, training=training),
            LayerCase("BatchNorm3d", (2,), shapes=VOLUME, training=training),
            LayerCase("InstanceNorm1d", (4,), shapes=SIGNAL, training=training),
            LayerCase("InstanceNorm2d", (4,), {"affine": True, "track_running_stats": True}, IMAGE, training=training),
            LayerCase("InstanceNorm3d", (2,), {"affine": True}, VOLUME, training=training),
        ]
    for name in ("RNN", "GRU", "LSTM"):
        cases += [
            LayerCase(name, (4, 3), shapes=SEQUENCE),
            LayerCase(name, (4, 3), {"num_layers": 2, "bidirectional": True, "batch_first": True}, SEQUENCE),
            LayerCase(name, (4, 3), {"bias": False}, ((5, 4),)),
            LayerCase(f"{name}Cell", (4, 3), shapes=((2, 4),)),
        ]
    cases += [
        LayerCase("RNN", (4, 3), {"nonlinearity": "relu"}, SEQUENCE),
        LayerCase("RNN", (4, 3), shapes=((5, 2, 4), (1, 2, 3))),
        LayerCase("GRU", (4, 3), {"num_layers": 2, "bidirectional": True}, ((5, 2, 4), (4, 2, 3))),
        LayerCase("GRUCell", (4, 3), {"bias": False}, ((2, 4), (2, 3))),
        LayerCase("MultiheadAttention", (4, 2), shapes=((5, 3, 4), (6, 3, 4), (6, 3, 4))),
        LayerCase("MultiheadAttention", (4, 2), {"batch_first": True, "bias": False}, ((3, 5, 4),) * 3),
        LayerCase("MultiheadAttention", (4, 2), {"kdim": 3, "vdim": 5}, ((5, 2, 4), (6, 2, 3), (6, 2, 5))),
        LayerCase("MultiheadAttention", (4, 2), shapes=((5, 4),) * 3),
        LayerCase("MultiheadAttention", (4, 2), shapes=((5, 3, 4),) * 3, call={"need_weights": False}),
        LayerCase("MultiheadAttention", (4, 2), shapes=((5, 3, 4),) * 3, call={"average_attn_weights": False}),
        LayerCase("MultiheadAttention", (4, 2), shapes=((5, 3, 4),) * 3, call={"attn_mask": "causal"}),
        LayerCase("MultiheadAttention", (4, 2), shapes=((5, 3, 4),) * 3, call={"key_padding_mask": "padding"}),
        LayerCase("TransformerEncoderLayer", (4, 2, 8), {"dropout": 0.0}, SEQUENCE),
        LayerCase(
            "TransformerEncoderLayer",
            (4, 2, 8),
            {"dropout": 0.0, "activation": "gelu", "norm_first": True, "batch_first": True},
            SEQUENCE,
        ),
        LayerCase("TransformerDecoderLayer", (4, 2, 8), {"dropout": 0.0}, ((5, 2, 4), (6, 2, 4))),
        LayerCase(
            "TransformerDecoderLayer",
            (4, 2, 8),
            {"dropout": 0.0, "activation": "gelu", "norm_first": True, "batch_first": True},
            ((2, 5, 4), (2, 6, 4)),
        ),
        LayerCase("Flatten", (), shapes=IMAGE),
        LayerCase("Flatten", (0, 2), shapes=IMAGE),
        LayerCase("Unflatten", (1, (2, 2)), shapes=IMAGE),
        LayerCase("PReLU", (), shapes=SIGNAL),
        LayerCase("PReLU", (4,), shapes=SIGNAL),
        LayerCase("Dropout", (0.5,), shapes=SIGNAL, training=False),
    ]
    for axes, shapes in ((1, SIGNAL), (2, IMAGE), (3, VOLUME)):
        cases += [
            LayerCase(f"MaxPool{axes}d", (2,), {"stride": 1}, shapes),
            LayerCase(f"MaxPool{axes}d", (3,), {"padding": 1, "ceil_mode": True}, shapes),
            LayerCase(f"AvgPool{axes}d", (2,), {"padding": 1, "count_include_pad": False}, shapes),
            LayerCase(f"AdaptiveAvgPool{axes}d", (2,), shapes=shapes),
            LayerCase(f"AdaptiveMaxPool{axes}d", (2,), shapes=shapes),
        ]
    simple = (
        "ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softplus Softsign Hardtanh Hardsigmoid "
        "Hardswish Hardshrink Softshrink Tanhshrink LogSigmoid Identity"
    )
    cases += [LayerCase(name, (), shapes=SIGNAL) for name in simple.split()]
    cases += [LayerCase(name, (), {"dim": 1}, SIGNAL) for name in ("Softmax", "LogSoftmax", "Softmin", "GLU")]
    cases += [
        LayerCase("LeakyReLU", (0.2,), shapes=SIGNAL),
        LayerCase("GELU", (), {"approximate": "tanh"}, SIGNAL),
        LayerCase("Threshold", (0.1, -3.0), shapes=SIGNAL),
    ]
    pair = ((5, 3), (5, 3))
    cases += [LayerCase(name, (), shapes=pair) for name in ("MSELoss", "L1Loss", "HuberLoss", "SmoothL1Loss")]
    cases += [LayerCase("MSELoss", (), {"reduction": "sum"}, pair), LayerCase("PoissonNLLLoss", (), shapes=pair)]
    return cases


LAYERS = {case.key: case for case in _layers()}


def weights(size: int) -> Any:
    """Fixed numbers that no two elements share, to weigh results with."""
    return np.cos(np.arange(1, size + 1) * 0.7)


def masks(case: LayerCase) -> dict[str, Any]:
    """The arguments of the call, with masks as arrays."""
    call = dict(case.call)
    if call.get("attn_mask") == "causal":
        call["attn_mask"] = MASK
    if call.get("key_padding_mask") == "padding":
        call["key_padding_mask"] = np.arange(5)[None] >= np.array([[5], [3], [4]])
    return call


def run(case: LayerCase) -> dict[str, Any]:
    """What the layer gives: outputs, and the gradients of their weighted sum in its parameters and inputs."""
    layer = case.layer()
    inputs = case.inputs()
    params = layer.params

    def weighed(params: Any, inputs: Any) -> Any:
        outputs = layer.apply(params, *inputs, **masks(case))
        listed = [x for x in _listed(outputs) if x is not None]
        return sum((x.reshape(-1) * weights(x.size)).sum() for x in listed), listed

    found: dict[str, Any] = {}
    chosen = (0, 1) if not case.labels else (0,)
    if not params:
        gradients, outputs = gt.grad(lambda inputs: weighed(params, inputs), has_aux=True)(inputs)
        gradients = ({}, gradients)
    else:
        gradients, outputs = gt.grad(weighed, argnums=chosen, has_aux=True)(params, inputs)
    for number, output in enumerate(outputs):
        found[f"output {number}"] = np.asarray(output.numpy() if isinstance(output, gt.Tensor) else output)
    for name, gradient in _flat(gradients[0]).items():
        found[f"gradient of {name}"] = gradient
    if not case.labels:
        for number, gradient in enumerate(gradients[1]):
            found[f"gradient of input {number}"] = gradient
    layer(*inputs, **masks(case))
    for name, buffer in layer.named_buffers():
        found[name] = buffer.numpy()
    return found


def _listed(outputs: Any) -> list[Any]:
    if isinstance(outputs, tuple | list):
        return [x for part in outputs for x in _listed(part)]
    return [outputs]


def digest(found: dict[str, Any]) -> dict[str, float]:
    """One number for each array."""
    return {name: float((np.ravel(array) * weights(np.size(array))).sum()) for name, array in sorted(found.items())}


# -- optimisers

START = {"w": np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]]), "b": np.array([0.3, -0.7])}
DATA = np.random.default_rng(5).normal(size=(7, 3))
STEPS = 20

OPTIMISERS: dict[str, tuple[str, dict[str, Any]]] = {
    f"{name} {options}": (name, options)
    for name, options in [
        ("SGD", {"lr": 0.01}),
        ("SGD", {"lr": 0.01, "momentum": 0.9}),
        ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        ("SGD", {"lr": 0.01, "momentum": 0.8, "dampening": 0.3, "maximize": True}),
        ("Adam", {"lr": 0.05}),
        ("Adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1, "betas": (0.8, 0.9)}),
        ("Adam", {"lr": 0.05, "maximize": True, "eps": 1e-3}),
        ("AdamW", {"lr": 0.05}),
        ("AdamW", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.3}),
        ("RMSprop", {"lr": 0.01}),
        ("RMSprop", {"lr": 0.01, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
        ("RMSprop", {"lr": 0.01, "alpha": 0.5, "centered": True}),
        ("Adagrad", {"lr": 0.1}),
        ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
        ("Adadelta", {"lr": 1.0}),
        ("Adadelta", {"lr": 0.5, "rho": 0.8, "weight_decay": 0.1}),
        ("Adamax", {"lr": 0.02}),
        ("Adamax", {"lr": 0.02, "weight_decay": 0.1, "betas": (0.7, 0.9)}),
        ("NAdam", {"lr": 0.02}),
        ("NAdam", {"lr": 0.02, "weight_decay": 0.1, "momentum_decay": 0.1}),
        ("NAdam", {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True}),
        ("RAdam", {"lr": 0.02}),
        ("RAdam", {"lr": 0.02, "weight_decay": 0.1, "betas": (0.7, 0.8)}),
        ("RAdam", {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True, "betas": (0.8, 0.9)}),
        ("ASGD", {"lr": 0.01}),
        ("ASGD", {"lr": 0.01, "lambd": 0.1, "alpha": 0.5, "t0": 3, "weight_decay": 0.1}),
        ("Rprop", {"lr": 0.01}),
        ("Rprop", {"lr": 0.1, "etas": (0.4, 1.3), "step_sizes": (0.01, 0.2)}),
        ("LBFGS", {"lr": 0.5, "max_iter": 4}),
        ("LBFGS", {"lr": 1.0, "max_iter": 5, "line_search_fn": "strong_wolfe", "history_size": 3}),
    ]
}

SCHEDULES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "step": ("StepLR", {"step_size": 4, "gamma": 0.3}, gt.optim.schedules.step(0.1, 4, 0.3)),
    "multi_step": ("MultiStepLR", {"milestones": [3, 9]}, gt.optim.schedules.multi_step(0.1, [3, 9])),
    "exponential": ("ExponentialLR", {"gamma": 0.9}, gt.optim.schedules.exponential(0.1, 0.9)),
    "cosine": (
        "CosineAnnealingLR",
        {"T_max": 20, "eta_min": 0.01},
        gt.optim.schedules.cosine(0.1, 20, 0.01),
    ),
    "warmup": (
        "LinearLR",
        {"start_factor": 0.25, "total_iters": 6},
        gt.optim.schedules.warmup(0.1, 6, 0.25),
    ),
    "polynomial": (
        "PolynomialLR",
        {"total_iters": 15, "power": 2.0},
        gt.optim.schedules.polynomial(0.1, 15, 0.0, 2.0),
    ),
    "one_cycle": ("OneCycleLR", {"max_lr": 0.1, "total_steps": 20}, gt.optim.schedules.one_cycle(0.1, 20)),
    "one_cycle, linear": (
        "OneCycleLR",
        {"max_lr": 0.1, "total_steps": 20, "anneal_strategy": "linear", "pct_start": 0.5},
        gt.optim.schedules.one_cycle(0.1, 20, 0.5, "linear"),
    ),
    "one_cycle, three phases": (
        "OneCycleLR",
        {"max_lr": 0.1, "total_steps": 20, "three_phase": True},
        gt.optim.schedules.one_cycle(0.1, 20, three_phase=True),
    ),
}


PLATEAUS: dict[str, dict[str, Any]] = {
    str(options): options
    for options in (
        {"patience": 2},
        {"patience": 1, "mode": "max", "factor": 0.01},
        {"patience": 1, "cooldown": 3, "factor": 0.5},
        {"patience": 0, "min_lr": 0.02, "threshold": 0.2},
        {"patience": 1, "threshold": 0.6, "threshold_mode": "abs"},
        {"patience": 1, "mode": "max", "threshold": 0.6, "threshold_mode": "abs"},
    )
}
METRICS = np.abs(np.random.default_rng(6).normal(size=60).cumsum()) // 0.5 + 1.0


def loss(params: Any, exp: Any, data: Any) -> Any:
    """A loss with curvature, the same expression for both libraries."""
    out = data @ params["w"] + params["b"]
    return (out * out + exp(-out * out)).mean()


def optimised(key: str) -> dict[str, Any]:
    """The parameters after some steps of an optimiser."""
    name, options = OPTIMISERS[key]
    own = {"learning_rate" if option == "lr" else option: value for option, value in options.items()}
    opt = getattr(gt.optim, name)(**own)
    function = gt.value_and_grad(lambda params: loss(params, np.exp, DATA))
    params, state = START, opt.init(START)
    for _ in range(STEPS):
        if name == "LBFGS":
            _, params, state = opt.minimise_step(function, state, params)
        else:
            params, state = opt.update(function(params)[1], state, params)
    return dict(params)


def scheduled(key: str) -> dict[str, Any]:
    """The learning rates of a schedule."""
    return {"rates": np.array([float(SCHEDULES[key][2](count)) for count in range(STEPS)])}


def levelled(key: str) -> dict[str, Any]:
    """The learning rates of a plateau."""
    own = {"min_rate" if option == "min_lr" else option: value for option, value in PLATEAUS[key].items()}
    plateau, rates = gt.optim.schedules.Plateau(**own), [0.1]
    for metric in METRICS:
        rates.append(plateau.step(rates[-1], metric))
    return {"rates": np.array(rates[1:])}


def stored() -> dict[str, Any]:
    """What PyTorch said."""
    numbers: dict[str, Any] = json.loads(STORED.read_text())
    return numbers
