"""A loop that clears the gradients, and then adds those of two batches on purpose."""

import torch
from torch import nn

torch.manual_seed(49)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
x = torch.randn(40, 4)
y = x.sum(1, keepdim=True)
for step in range(8):
    loss = nn.functional.mse_loss(model(x), y)
    single = torch.autograd.grad(loss, model.weight, retain_graph=True)[0]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
print(loss.item())
optimizer.zero_grad()
for half in (x[:20], x[20:]):
    (nn.functional.mse_loss(model(half), half.sum(1, keepdim=True)) / 2).backward()
optimizer.step()
assert loss.isfinite()
