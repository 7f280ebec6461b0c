# expect: GT511
# cause: zero_grad is missing in the loop, so each step uses the sum of all gradients before it
# wrong: float((model.weight.grad - single).abs().max()) > 1e-3
# cure: loss.backward() -> optimizer.zero_grad()\n    loss.backward()
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
    loss.backward()  # <- here
    optimizer.step()  # <- here
    scheduler.step()
print(loss.item())
