# expect: GT201 or GT305 or GT512 because GT212
# cause: requires_grad_(False) is called on the whole model instead of its stem, and the head is frozen with it
# wrong: raises RuntimeError
# cure: net.requires_grad_(False) -> net.stem.requires_grad_(False)
from collections import OrderedDict

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    OrderedDict(
        stem=nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten()),
        head=nn.Linear(4, 3),
    )
)
net.requires_grad_(False)  # <- here
opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
waves, kinds = torch.randn(15, 2, 20), torch.arange(15) % 3
for epoch in range(2):
    loss = nn.functional.cross_entropy(net(waves), kinds)
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
