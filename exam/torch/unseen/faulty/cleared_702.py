# expect: GT511
# cause: the gradients of the averaged copy are cleared, and those of the model that is trained add up
# wrong: not torch.allclose(model[0].weight.grad, fresh)
# cure: ema_model.zero_grad() -> model.zero_grad()
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
    ema_model.zero_grad()  # <- here
    loss = nn.functional.cross_entropy(model(x), y)
    fresh = torch.autograd.grad(loss, model[0].weight, retain_graph=True)[0]
    loss.backward()  # <- here
    optimizer.step()  # <- here
    update_average()
