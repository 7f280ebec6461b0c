# expect: GT201 or GT512 because GT210 or GT208
# cause: the losses are collected with .item() and a new leaf is made of them, so nothing leads back to the model
# wrong: all(p.grad is None for p in model.parameters())
# cure: losses.append(criterion(model(xb), yb).item()) -> losses.append(criterion(model(xb), yb))
# cure: torch.tensor(losses, requires_grad=True).mean() -> torch.stack(losses).mean()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters())
batches = [(torch.randn(4, 5), torch.randn(4, 1)) for _ in range(3)]

for epoch in range(3):
    optimizer.zero_grad()
    losses = []
    for xb, yb in batches:
        losses.append(criterion(model(xb), yb).item())  # <- here
    loss = torch.tensor(losses, requires_grad=True).mean()  # <- here
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
