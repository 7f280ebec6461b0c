# expect: GT201 because GT208
# cause: the messages between the nodes of the graph are collected under no_grad, so the message network never learns
# wrong: gnn.message.weight.grad is None
# cure: with torch.no_grad(): -> if True:
import torch
from torch import nn


class GraphLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.message = nn.Linear(2 * width, width)
        self.update = nn.GRUCell(width, width)

    def forward(self, h, edges):
        source, target = edges
        with torch.no_grad():  # <- here
            m = torch.relu(self.message(torch.cat([h[source], h[target]], dim=1)))
            pooled = torch.zeros_like(h).index_add(0, target, m)
        return self.update(pooled, h)


torch.manual_seed(0)
gnn, readout = GraphLayer(5), nn.Linear(5, 1)
opt = torch.optim.Adam([*gnn.parameters(), *readout.parameters()], lr=0.01)
edges = torch.tensor([[0, 1, 2, 3, 4, 5, 0, 2], [1, 2, 3, 4, 5, 0, 3, 5]])
h0, goal = torch.randn(6, 5), torch.randn(6)
for step in range(3):
    h = gnn(gnn(h0, edges), edges)
    loss = (readout(h).squeeze(-1) - goal).pow(2).mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
