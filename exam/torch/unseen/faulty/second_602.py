# expect: GT308
# cause: the features are computed once before the loop, and each step walks back through them again
# wrong: raises RuntimeError
# cure: embedded = propagate(adjacency, features) -> adjacency = adjacency
# cure: loss = node_loss(embedded) -> loss = node_loss(propagate(adjacency, features))
import torch
from torch import nn

torch.manual_seed(0)
nodes, classes = 20, 3
features = torch.randn(nodes, 7)
adjacency = (torch.rand(nodes, nodes) < 0.2).float() + torch.eye(nodes)
adjacency = adjacency / adjacency.sum(dim=1, keepdim=True)
labels = torch.randint(0, classes, (nodes,))
encode = nn.Linear(7, 16)
decide = nn.Linear(16, classes)
optimizer = torch.optim.Adam([*encode.parameters(), *decide.parameters()], lr=1e-2)


def propagate(a, x):
    return torch.tanh(a @ encode(x))  # <- here


def node_loss(h):
    return nn.functional.cross_entropy(decide(adjacency @ h), labels)


embedded = propagate(adjacency, features)  # <- here
for epoch in range(10):
    loss = node_loss(embedded)
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()
