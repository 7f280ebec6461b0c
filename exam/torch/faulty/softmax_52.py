# expect: GT501
# cause: log_softmax runs along the width of the image, nll_loss picks along the channels
# wrong: not torch.allclose(segment(images).exp().sum(dim=1), torch.ones(2, 8, 8), atol=1e-4)
# cure: F.log_softmax(net(x), dim=-1) -> F.log_softmax(net(x), dim=1)
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def segment(x):
    return F.log_softmax(net(x), dim=-1)  # <- here


images, masks = torch.rand(2, 3, 8, 8), torch.randint(0, 4, (2, 8, 8))
for epoch in range(3):
    optimizer.zero_grad()
    loss = F.nll_loss(segment(images), masks)  # <- asked
    loss.backward()
    optimizer.step()
