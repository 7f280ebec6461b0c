import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.Linear(5, 4)
        self.prior = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return (self.experts(x) * self.prior.softmax(dim=0)).sum(dim=1)


torch.manual_seed(0)
model = Mixture()
start = model.prior.detach().clone()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(25, 5), torch.randn(25)
for _ in range(5):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert not torch.equal(start, model.prior)
