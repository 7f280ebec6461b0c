# expect: GT513
# cause: the noise level of the likelihood is a plain tensor that requires a gradient, so that parameters() does not have it
# wrong: net.log_sigma.item() == 0
# cure: self.log_sigma = torch.zeros((), requires_grad=True) -> self.log_sigma = nn.Parameter(torch.zeros(()))
import math

import torch
from torch import nn


class Gaussian(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.mean = nn.Linear(d, 1)
        self.log_sigma = torch.zeros((), requires_grad=True)  # <- here

    def forward(self, x, y):
        z = (y - self.mean(x)) / self.log_sigma.exp()
        return (0.5 * z**2 + self.log_sigma + 0.5 * math.log(2 * math.pi)).mean()


torch.manual_seed(0)
net = Gaussian(3)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
x = torch.randn(100, 3)
y = x.sum(1, keepdim=True) + 0.1 * torch.randn(100, 1)
for _ in range(5):
    opt.zero_grad()
    nll = net(x, y)
    nll.backward()  # <- asked
    opt.step()  # <- asked
