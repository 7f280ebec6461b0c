# needs: torchvision
"""torchvision's ResNet-18 with the last layer replaced and the first stage frozen."""

import torch
from measure import Steps
from torch import nn
from torch_measure import allow_torchvision_without_cuda, finish

library = allow_torchvision_without_cuda()

from torchvision.models import resnet18  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

torch.manual_seed(0)
model = resnet18(weights=None)
model.fc = nn.Linear(model.fc.in_features, 4)
for parameter in model.layer1.parameters():
    parameter.requires_grad = False
augment = v2.Compose([v2.RandomHorizontalFlip(), v2.RandomCrop(32, padding=4), v2.Normalize([0.0] * 3, [1.0] * 3)])
images, labels = torch.randn(32, 3, 32, 32), torch.arange(32) % 4

optimiser = torch.optim.SGD((p for p in model.parameters() if p.requires_grad), lr=0.01, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 20)
criterion = nn.CrossEntropyLoss()
steps = Steps()
for epoch in range(6):
    model.train()
    total = 0.0
    for start in range(0, 32, 8):
        with steps:
            batch = augment(images[start : start + 8])
            optimiser.zero_grad(set_to_none=True)
            loss = criterion(model(batch), labels[start : start + 8])
            loss.backward()
            optimiser.step()
            total += loss.item() * 8
    schedule.step()
    print(f"epoch {epoch}: loss {total / 32:.6f}")
finish(steps, model)
