import torch
from torch import nn


class LearnedGraph(nn.Module):
    def __init__(self, nodes, width):
        super().__init__()
        self.logits = nn.Parameter(torch.randn(nodes, nodes))
        self.adjacency = torch.softmax(self.logits, dim=1)
        self.mix = nn.Linear(width, width)
        self.readout = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.softmax(self.logits, dim=1) @ self.mix(x)
        return self.readout(torch.relu(x)).squeeze(-1)


torch.manual_seed(0)
model = LearnedGraph(7, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    x, y = torch.randn(4, 7, 5), torch.randn(4, 7)
    loss = (model(x) - y).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
