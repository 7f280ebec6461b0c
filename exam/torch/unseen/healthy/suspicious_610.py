import torch
from torch import nn


class FrozenBackbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(8, 4)
        for parameter in self.backbone.parameters():
            parameter.requires_grad = False

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, images):
        with torch.no_grad():
            features = self.backbone(images).flatten(1)
        return self.head(features)


torch.manual_seed(0)
model = FrozenBackbone().train()
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
best, patience = float("inf"), 0
for epoch in range(8):
    images, labels = torch.rand(12, 3, 9, 9), torch.randint(0, 4, (12,))
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best, patience = loss.item(), 0
        saved = {name: value.clone() for name, value in model.state_dict().items()}
    else:
        patience += 1
        if patience > 3:
            break
model.load_state_dict(saved)
assert model.head.weight.grad.any()
