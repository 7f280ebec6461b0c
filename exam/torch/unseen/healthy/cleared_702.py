import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.GELU(), nn.Linear(12, 3))
ema_model = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x, y = torch.randn(32, 5), torch.randint(0, 3, (32,))


def update_average(decay=0.99):
    with torch.no_grad():
        for kept, current in zip(ema_model.parameters(), model.parameters()):
            kept.lerp_(current, 1 - decay)


for step in range(6):
    model.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    fresh = torch.autograd.grad(loss, model[0].weight, retain_graph=True)[0]
    loss.backward()
    optimizer.step()
    update_average()
assert torch.allclose(model[0].weight.grad, fresh)
