"""Per-example gradients with torch.func: grad of a functional call, mapped over the batch."""

import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
params = {name: p.detach() for name, p in model.named_parameters()}
x, y = torch.randn(7, 3), torch.randn(7)


def loss_of_one(params, features, target):
    prediction = functional_call(model, params, (features.unsqueeze(0),)).squeeze()
    return (prediction - target) ** 2


per_example = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(params, x, y)
model.zero_grad()
((model(x).squeeze(1) - y) ** 2).sum().backward()
for name, p in model.named_parameters():
    assert torch.allclose(per_example[name].sum(dim=0), p.grad, atol=1e-5)
