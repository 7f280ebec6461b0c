import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Average:
    """An exponential moving average of the parameters, for evaluation."""

    def __init__(self, model, decay=0.9):
        self.model = copy.deepcopy(model).eval()
        self.decay = decay

    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.data.mul_(self.decay).add_(theirs.data, alpha=1 - self.decay)


torch.manual_seed(0)
x = torch.randn(80, 6)
loader = DataLoader(TensorDataset(x, x @ torch.randn(6, 1)), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
average = Average(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for epoch in range(6):
    for batch, target in loader:
        loss = nn.functional.mse_loss(model(batch), target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        average.update(model)
        losses.append(loss.item())
with torch.no_grad():
    final = nn.functional.mse_loss(average.model(x), x @ torch.randn(6, 1))
assert losses[-1] < losses[0]
