# expect: GT308
# cause: the features are computed once outside of the loop, and their graph is freed by the first backward
# wrong: raises RuntimeError
# cure: loss = ((head(features) - y) ** 2).mean() -> loss = ((head(torch.tanh(embed(x))) - y) ** 2).mean()
import torch
from torch import nn

torch.manual_seed(0)
embed, head = nn.Linear(7, 5), nn.Linear(5, 1)
optimizer = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(18, 7), torch.randn(18, 1)

features = torch.tanh(embed(x))  # <- here
for epoch in range(4):
    optimizer.zero_grad()
    loss = ((head(features) - y) ** 2).mean()
    loss.backward()  # <- asked
    optimizer.step()
