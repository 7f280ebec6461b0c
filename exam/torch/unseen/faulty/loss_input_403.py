# expect: GT509
# cause: poisson_nll_loss takes the logarithm of the rate unless told otherwise, and gets the rate
# wrong: torch.allclose(loss, (rate.exp() - counts * rate).mean())
# cure: poisson_nll_loss(rate, counts) -> poisson_nll_loss(rate, counts, log_input=False)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softplus())
x = torch.randn(40, 4)
counts = torch.poisson(torch.full((40, 1), 3.0))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(3):
    rate = model(x)
    loss = nn.functional.poisson_nll_loss(rate, counts)  # <- here
    opt.zero_grad()
    loss.backward()
    opt.step()
