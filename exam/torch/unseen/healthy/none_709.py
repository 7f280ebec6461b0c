import torch
from torch import nn


class SmallCNN(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classifier = nn.Linear(8, classes)

    def forward(self, x):
        return self.classifier(self.features(x))


torch.manual_seed(0)
model = SmallCNN().eval()
image = torch.rand(3, 12, 12)
image = image.unsqueeze(0).requires_grad_()
score = model(image)[0].max()
score.backward()
saliency = image.grad.abs().max(dim=1)[0].squeeze(0)
assert saliency.shape == (12, 12)
