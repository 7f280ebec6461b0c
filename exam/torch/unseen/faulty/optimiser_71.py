# expect: GT513
# cause: the convolutions of the branches are in a tuple, which the module does not look into
# wrong: len(list(net.parameters())) == 2
# cure: self.branches = tuple(nn.Conv1d(1, 3, k, padding=k // 2) for k in (3, 5, 7)) -> self.branches = nn.ModuleList(nn.Conv1d(1, 3, k, padding=k // 2) for k in (3, 5, 7))
import torch
from torch import nn


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = tuple(nn.Conv1d(1, 3, k, padding=k // 2) for k in (3, 5, 7))  # <- here
        self.out = nn.Linear(9, 2)

    def forward(self, x):
        maps = torch.cat([torch.relu(b(x)) for b in self.branches], dim=1)
        return self.out(maps.amax(dim=2))


torch.manual_seed(0)
net = Inception()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
beats, label = torch.randn(16, 1, 30), torch.randint(2, (16,))
for epoch in range(3):
    loss = nn.functional.cross_entropy(net(beats), label)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
