import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softplus())
x = torch.randn(40, 4)
counts = torch.poisson(torch.full((40, 1), 3.0))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(3):
    rate = model(x)
    loss = nn.functional.poisson_nll_loss(rate, counts, log_input=False)
    opt.zero_grad()
    loss.backward()
    opt.step()
assert torch.isfinite(loss)
