# expect: GT512 or GT513
# cause: the loop clears and computes gradients, and step() is never called
# wrong: torch.equal(model[0].weight, start)
# cure: loss.backward()  # <- here -> loss.backward()\n    opt.step()
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 3), torch.randn(40, 1)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
start = model[0].weight.detach().clone()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)  # <- here
for epoch in range(20):
    opt.zero_grad()  # <- here
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- here
