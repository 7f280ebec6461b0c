# needs: timm
"""A ResNet of `timm` with its own loss, optimiser factory, schedule and moving average of the weights."""

import torch
from measure import Steps
from torch_measure import allow_torchvision_without_cuda, finish

library = allow_torchvision_without_cuda()

import timm  # noqa: E402
from timm.loss import LabelSmoothingCrossEntropy  # noqa: E402
from timm.optim import create_optimizer_v2  # noqa: E402
from timm.utils import ModelEmaV3  # noqa: E402

torch.manual_seed(0)
images = torch.randn(32, 3, 32, 32)
labels = (images.mean(dim=(1, 2, 3)) > 0).long()

model = timm.create_model("resnet10t", num_classes=2, drop_rate=0.1, drop_path_rate=0.1)
average = ModelEmaV3(model, decay=0.9)
criterion = LabelSmoothingCrossEntropy(0.1)
optimiser = create_optimizer_v2(model, opt="sgd", lr=0.01, momentum=0.9, weight_decay=1e-4)
steps = Steps()
for step in range(30):
    model.train()
    chosen = torch.randperm(len(images))[:8]
    with steps:
        optimiser.zero_grad()
        loss = criterion(model(images[chosen]), labels[chosen])
        loss.backward()
        optimiser.step()
        average.update(model, step)
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.6f}")
model.eval()
with torch.no_grad():
    accuracy = (model(images).argmax(1) == labels).float().mean().item()
print(f"accuracy {accuracy:.4f}")
finish(steps, model, average.module)
