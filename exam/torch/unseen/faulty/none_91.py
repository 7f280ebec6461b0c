# expect: GT201 or GT305 because GT210 or GT208
# cause: the losses are collected as numbers with .item(), and a new tensor of their mean is differentiated
# wrong: model.weight.grad is None or not model.weight.grad.any()
# cure: losses.append(nn.functional.mse_loss(model(x), y).item()) -> losses.append(nn.functional.mse_loss(model(x), y))
# cure: torch.tensor(losses, requires_grad=True).mean() -> torch.stack(losses).mean()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
for epoch in range(2):
    losses = []
    for x, y in batches:
        losses.append(nn.functional.mse_loss(model(x), y).item())  # <- here
    loss = torch.tensor(losses, requires_grad=True).mean()  # <- here
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
