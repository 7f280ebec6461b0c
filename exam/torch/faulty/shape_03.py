# expect: GT116 or GT111 or GT110
# cause: the images are channels last, as matplotlib reads them; conv2d wants the channels first
# wrong: raises RuntimeError
# cure: backbone(batch) -> backbone(batch.permute(0, 3, 1, 2))
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
photos = rng.integers(0, 256, size=(5, 32, 32, 3)).astype(np.float32) / 255
batch = torch.from_numpy(photos)

torch.manual_seed(0)
backbone = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(8, 2),
)
scores = backbone(batch)  # <- here
loss = scores.square().mean()
loss.backward()
