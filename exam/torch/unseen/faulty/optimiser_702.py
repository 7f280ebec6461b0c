# expect: GT513 or GT512
# cause: the best model is put in the place of the diverged one, and the optimiser still has the parameters of the latter
# wrong: torch.equal(model[0].weight, best[0].weight)
# cure: model = copy.deepcopy(best)  # <- here -> model.load_state_dict(best.state_dict())
import copy

import torch
from torch import nn


def validate(model, x, y):
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


torch.manual_seed(0)
x, y = torch.randn(60, 4), torch.randn(60, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
best, best_loss, bad = copy.deepcopy(model), float("inf"), 0
for epoch in range(10):
    loss = nn.functional.mse_loss(model(x[:40]), y[:40])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # <- asked
    current = validate(model, x[40:], y[40:])
    if epoch < 3 and current < best_loss + 1.0:
        best, best_loss = copy.deepcopy(model), current
    elif epoch == 5:
        model = copy.deepcopy(best)  # <- here
