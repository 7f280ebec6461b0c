# expect: GT201 or GT305 because GT208
# cause: evaluate() switches gradients off and never on again, so that the second epoch has no graph
# wrong: raises RuntimeError
# cure: return total / len(x) -> torch.set_grad_enabled(True)\n    return total / len(x)
import torch
from torch import nn


def evaluate(model, x, y):
    model.eval()
    torch.set_grad_enabled(False)  # <- here
    total = 0.0
    for features, target in zip(x, y):
        total += (model(features) - target).abs().item()
    return total / len(x)


torch.manual_seed(0)
x, y = torch.randn(12, 3), torch.randn(12, 1)
model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- asked
    optimizer.step()
    print(epoch, loss.item(), evaluate(model, x, y))
