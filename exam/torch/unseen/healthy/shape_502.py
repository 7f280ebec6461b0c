"""A CNN whose linear layer fits."""

import torch
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.classifier = nn.Linear(8 * 3 * 3, 5)

    def forward(self, image):
        maps = self.features(image)
        return self.classifier(maps.flatten(1))


torch.manual_seed(36)
net = ConvNet()
optimizer = torch.optim.Adam(net.parameters())
images, labels = torch.randn(4, 3, 18, 18), torch.randint(0, 5, (4,))
for _ in range(2):
    loss = nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite()
