import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.head = nn.Linear(4, 3)

    def forward(self, image):
        self.activation = torch.relu(self.conv(image))
        self.activation.retain_grad()
        return self.head(self.activation.mean(dim=(2, 3)))


torch.manual_seed(0)
model = Classifier()
image = torch.rand(1, 1, 8, 8)
score = model(image)[0].max()
score.backward()
weights = torch.mean(model.activation.grad, dim=(2, 3), keepdim=True)
heat = torch.relu((weights * model.activation).sum(dim=1))
assert heat.shape == (1, 8, 8)
