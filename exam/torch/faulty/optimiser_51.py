# expect: GT513
# cause: the heads are in a plain dict, which the module does not look into
# wrong: all(torch.equal(a, b) for a, b in zip(head_start, net.heads["age"].parameters()))
# cure: {name: nn.Linear(14, size) for name, size in tasks.items()} -> nn.ModuleDict({name: nn.Linear(14, size) for name, size in tasks.items()})
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 14), nn.ReLU())
        self.heads = {name: nn.Linear(14, size) for name, size in tasks.items()}  # <- here

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


torch.manual_seed(0)
net = MultiTask({"age": 1, "height": 1})
head_start = [p.detach().clone() for p in net.heads["age"].parameters()]
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)  # <- asked
x = torch.randn(20, 9)
targets = {"age": torch.randn(20, 1), "height": torch.randn(20, 1)}
for epoch in range(4):
    out = net(x)
    loss = sum(nn.functional.mse_loss(out[name], targets[name]) for name in targets)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
