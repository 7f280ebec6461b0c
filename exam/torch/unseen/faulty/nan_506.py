# expect: GT401
# cause: a row of the attention mask hides every position, and softmax of a row of -inf is NaN
# wrong: bool(loss.isnan())
# cure: scores.masked_fill(~visible, float("-inf")) -> scores.masked_fill(~visible, -1e9)
import torch
from torch import nn

torch.manual_seed(34)
project = nn.Linear(4, 4)
optimizer = torch.optim.SGD(project.parameters(), lr=0.1)
words = torch.randn(3, 5, 4)
lengths = torch.tensor([5, 2, 0])
visible = (torch.arange(5)[None, :] < lengths[:, None])[:, None, :].expand(3, 5, 5)


def attend(x):
    q = project(x)
    scores = q @ x.transpose(1, 2) / 2.0
    scores = scores.masked_fill(~visible, float("-inf"))  # <- here
    weights = scores.softmax(dim=-1)  # <- here
    return weights @ x


for _ in range(3):
    loss = (attend(words) - words).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
