# expect: GT201 because GT208
# cause: the users' factors are read through .data, so that only the items are trained
# wrong: model.users.grad is None
# cure: self.users.data[user] -> self.users[user]
import torch
from torch import nn


class Factorisation(nn.Module):
    def __init__(self, n_users, n_items, rank=4):
        super().__init__()
        self.users = nn.Parameter(0.1 * torch.randn(n_users, rank))
        self.items = nn.Parameter(0.1 * torch.randn(n_items, rank))

    def forward(self, user, item):
        return (self.users.data[user] * self.items[item]).sum(dim=-1)  # <- here


torch.manual_seed(0)
model = Factorisation(20, 30)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
user, item = torch.randint(0, 20, (64,)), torch.randint(0, 30, (64,))
rating = torch.rand(64) * 4 + 1
for epoch in range(4):
    loss = (model(user, item) - rating).square().mean()
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
