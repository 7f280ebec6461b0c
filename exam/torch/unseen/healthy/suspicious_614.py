import torch
from torch import nn
from torch.func import functional_call


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))

    def forward(self, x):
        return self.net(x)


def adapt(model, x, y, rate=0.1, steps=2):
    """Parameters after a few steps on one task, with the graph of the steps."""
    params = dict(model.named_parameters())
    for _ in range(steps):
        inner = (functional_call(model, params, (x,)) - y).square().mean()
        slopes = torch.autograd.grad(inner, list(params.values()), create_graph=True)
        params = {name: value - rate * slope for (name, value), slope in zip(params.items(), slopes)}
    return params


torch.manual_seed(0)
model = Learner()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for iteration in range(3):
    total = 0.0
    for task in range(3):
        phase = torch.rand(1) * 3
        support, query = torch.randn(10, 1), torch.randn(10, 1)
        adapted = adapt(model, support, torch.sin(support + phase))
        total = total + (functional_call(model, adapted, (query,)) - torch.sin(query + phase)).square().mean()
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
assert all(p.grad is not None for p in model.parameters())
