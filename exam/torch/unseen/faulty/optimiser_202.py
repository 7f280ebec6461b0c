# expect: GT512 or GT513 or GT314
# cause: parameters() is a generator, which the count has read to its end before the optimiser gets it
# wrong: raises ValueError
# cure: params = model.parameters() -> params = list(model.parameters())
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
params = model.parameters()  # <- here
print(sum(p.numel() for p in params), "parameters")  # <- here
opt = torch.optim.SGD(params, lr=0.1)  # <- here
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(3):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
