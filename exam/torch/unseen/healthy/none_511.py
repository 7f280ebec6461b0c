"""A backbone that is frozen on purpose; the optimiser has its parameters, too."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(6, classes)

    def forward(self, image):
        return self.head(self.backbone(image))


torch.manual_seed(16)
backbone = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
model = Classifier(backbone, 4)
for parameter in model.backbone.parameters():  # freeze
    parameter.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images, labels = torch.randn(8, 3, 8, 8), torch.randint(0, 4, (8,))
for _ in range(2):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert model.head.weight.grad is not None
assert backbone[0].weight.grad is None
