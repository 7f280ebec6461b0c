"""A convolutional net with batch normalisation and dropout, trained and then evaluated with running statistics."""

import torch
import torch.nn.functional as F
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, bias=False)
        self.bn = nn.BatchNorm2d(6)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(6 * 3 * 3, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)
        return self.fc(self.drop(x.flatten(1)))


torch.manual_seed(0)
net = ConvNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
images, labels = torch.randn(16, 1, 8, 8), torch.randint(0, 4, (16,))
for epoch in range(4):
    net.train()
    optimizer.zero_grad()
    F.cross_entropy(net(images), labels).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    first, second = net(images), net(images)
assert torch.equal(first, second)
assert net.bn.num_batches_tracked == 4
