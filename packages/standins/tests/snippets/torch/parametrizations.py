"""Weights that are computed from others: symmetric, skew, with a norm of their own, orthogonal."""

import torch
from torch import nn
from torch.nn.utils import parametrize, remove_weight_norm
from torch.nn.utils import weight_norm as old_weight_norm
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm


def filled(module):
    """Numbers that do not depend on a generator."""
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            count = parameter.numel()
            parameter.copy_(torch.sin(torch.arange(count) + number).reshape(parameter.shape) * 0.5)
    return module


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)


class Skew(nn.Module):
    def forward(self, X):
        A = X.triu(1)
        return A - A.transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu(1)


data = torch.cos(torch.arange(6.0)).reshape(2, 3)
layer = filled(nn.Linear(3, 3))
parametrize.register_parametrization(layer, "weight", Symmetric())
print(layer, layer.weight)
print(parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias"), list(layer.state_dict()))
layer(data).sum().backward()
print(layer.parametrizations.weight.original.grad)
with parametrize.cached():
    print(layer.weight is layer.weight)
skew = filled(nn.Linear(3, 3))
parametrize.register_parametrization(skew, "weight", Skew())
skew.weight = torch.tensor([[0.0, 1.0, 2.0], [-1.0, 0.0, 3.0], [-2.0, -3.0, 0.0]])
print(skew.weight)
parametrize.remove_parametrizations(skew, "weight")
print(skew, type(skew.weight), list(skew.state_dict()))
normed = weight_norm(filled(nn.Linear(3, 2)))
print(normed, normed.parametrizations.weight.original0)
normed(data).pow(2).sum().backward()
print(normed.parametrizations.weight.original0.grad, normed.parametrizations.weight.original1.grad)
old = old_weight_norm(filled(nn.Conv1d(2, 3, 2)))
print([name for name, _ in old.named_parameters()], old.weight_g.shape)
print(old(torch.ones(1, 2, 3)), [name for name, _ in remove_weight_norm(old).named_parameters()])
spectral = spectral_norm(filled(nn.Linear(4, 3)), n_power_iterations=30).eval()
print(torch.linalg.matrix_norm(spectral.weight, 2), list(spectral.state_dict()))
turned = orthogonal(filled(nn.Linear(3, 3)))
print(torch.dist(turned.weight.T @ turned.weight, torch.eye(3)) < 1e-5)
for wrong in (
    lambda: parametrize.register_parametrization(layer, "nothing", Symmetric()),
    lambda: parametrize.register_parametrization(filled(nn.Linear(2, 3)), "weight", Skew()),
    lambda: parametrize.remove_parametrizations(skew, "weight"),
):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__)
