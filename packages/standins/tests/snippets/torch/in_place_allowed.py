"""Writes in place that no gradient minds: PyTorch does not save what is written over."""

import torch
from torch import nn
from torch.nn import functional as F

norms = [
    nn.InstanceNorm2d(3),
    nn.BatchNorm2d(3, affine=False),
    nn.LayerNorm([2, 2], elementwise_affine=False),
    nn.GroupNorm(3, 3, affine=False),
    nn.RMSNorm([2], elementwise_affine=False),
    nn.LocalResponseNorm(2),
    nn.BatchNorm2d(3),
    nn.LayerNorm([2, 2]),
    nn.GroupNorm(1, 3),
]
activations = [
    nn.ReLU(True),
    nn.LeakyReLU(0.1, True),
    nn.ELU(inplace=True),
    nn.SiLU(True),
    nn.Hardtanh(inplace=True),
    nn.SELU(True),
    nn.CELU(inplace=True),
    nn.ReLU6(True),
    nn.Hardswish(True),
    nn.Mish(True),
    nn.Threshold(0.1, 0.0, True),
    nn.Hardsigmoid(True),
]
for norm in norms:
    for activation in activations:
        x = torch.arange(24.0).reshape(2, 3, 2, 2).sin().requires_grad_()
        (nn.Sequential(norm, activation)(x) ** 2).sum().backward()
        print(type(norm).__name__, type(activation).__name__, round(x.grad.abs().sum().item(), 2))

results = {
    "1 / x": lambda x: 1 / x,
    "x / 2": lambda x: x / 2,
    "abs": torch.abs,
    "clamp": lambda x: x.clamp(0, 1),
    "normalize": lambda x: F.normalize(x, dim=0),
    "layer_norm": lambda x: F.layer_norm(x, [2]),
    "maximum": lambda x: torch.maximum(x, x + 1),
    "logaddexp": lambda x: torch.logaddexp(x, x + 1),
    "sin": torch.sin,
    "sort": lambda x: x.sort().values,
    "elu": F.elu,
    "silu": F.silu,
    "softplus": F.softplus,
    "pow": lambda x: x**3,
    "atan2": lambda x: torch.atan2(x, x + 1),
    "matmul": lambda x: x @ x,
}
for name, function in results.items():
    x = torch.tensor([0.3, 1.7], requires_grad=True)
    a = x * 1
    b = function(a)
    b.mul_(3)
    (b.sum() + a.sum()).backward()
    print(name, "written to", x.grad)

operands = {
    "1 / x": lambda x: 1 / x,
    "expm1": torch.expm1,
    "tanhshrink": F.tanhshrink,
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "sqrt": torch.sqrt,
    "softmax": lambda x: torch.softmax(x, 0),
    "sum": lambda x: x.sum(),
    "cumsum": lambda x: x.cumsum(0),
}
for name, function in operands.items():
    x = torch.tensor([0.3, 1.7], requires_grad=True)
    a = x * 1
    b = function(a)
    a.mul_(3)
    (b.sum() + a.sum()).backward()
    print("operand of", name, x.grad)

refused = {
    "exp": (torch.exp, True),
    "softmax": (lambda x: torch.softmax(x, 0), True),
    "relu": (torch.relu, True),
    "norm": (lambda x: x.norm(), True),
    "sin": (torch.sin, False),
    "product": (lambda x: x * x, False),
    "log": (torch.log, False),
}
for name, (function, is_result) in refused.items():
    x = torch.tensor([0.3, 1.7], requires_grad=True)
    a = x * 1
    b = function(a)
    (b if is_result else a).mul_(3)
    try:
        (b.sum() + a.sum()).backward()
    except RuntimeError as error:
        print(name, type(error).__name__)

x = torch.ones(3, requires_grad=True)
w = torch.tensor([2.0, 3.0], requires_grad=True)
a = x * 2
v = a[:2]
v *= w
(a * a).sum().backward()
print(x.grad, w.grad)

w = torch.tensor([2.0, 3.0], requires_grad=True)
a = torch.ones(3)
a[:2] *= w
a[1:] /= w
(a * a).sum().backward()
print(w.grad, a.requires_grad)

w = torch.tensor([2.0, 3.0], requires_grad=True)
a = torch.ones(2, 2)
a.t().mul_(w)
a[0].pow_(w)
a.sum().backward()
print(w.grad)

x = torch.ones(3, requires_grad=True)
a = x * 2
a.view(3, 1).exp_()
a.sum().backward()
print(x.grad)
