# expect: GT513
# cause: the learned prior is registered as a buffer, which parameters() does not have
# wrong: torch.equal(start, model.prior)
# cure: self.register_buffer("prior", torch.zeros(4, requires_grad=True)) -> self.prior = nn.Parameter(torch.zeros(4))
import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.Linear(5, 4)
        self.register_buffer("prior", torch.zeros(4, requires_grad=True))  # <- here

    def forward(self, x):
        return (self.experts(x) * self.prior.softmax(dim=0)).sum(dim=1)


torch.manual_seed(0)
model = Mixture()
start = model.prior.detach().clone()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)  # <- here
x, y = torch.randn(25, 5), torch.randn(25)
for _ in range(5):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
