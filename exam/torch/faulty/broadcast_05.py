# expect: GT101
# cause: in the helper the prediction is a column and the target a vector; the mistake is hidden in a metric-like loss
# wrong: loss.item() > 1.0
# cure: (prediction - target).abs() -> (prediction.view(-1) - target).abs()
import torch
from torch import nn


def huber_like(prediction, target, delta=1.0):
    error = (prediction - target).abs()  # <- here
    small = error.clamp(max=delta)
    return (0.5 * small**2 + delta * (error - small)).mean()


def fit(prediction):
    return huber_like(prediction, y)


torch.manual_seed(4)
x = torch.linspace(-2, 2, 40).unsqueeze(1)
y = (3 * x + 1).squeeze()

model = nn.Linear(1, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(120):
    optimizer.zero_grad()
    loss = fit(model(x))
    loss.backward()
    optimizer.step()
