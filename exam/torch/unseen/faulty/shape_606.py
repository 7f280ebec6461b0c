# expect: GT116 or GT110 or GT111
# cause: images are (N, height, width, channels), and the convolution expects the channels before height and width
# wrong: raises RuntimeError
# cure: torch.as_tensor(np.stack(images)) -> torch.as_tensor(np.stack(images)).permute(0, 3, 1, 2)
import numpy as np
import torch
from torch import nn

generator = np.random.default_rng(0)
torch.manual_seed(0)


def collate(items):
    images, labels = zip(*items)
    return torch.as_tensor(np.stack(images)), torch.tensor(labels)


dataset = [(generator.random((10, 12, 3), dtype=np.float32), i % 2) for i in range(8)]
loader = torch.utils.data.DataLoader(dataset, batch_size=4, collate_fn=collate)
model = nn.Sequential(
    nn.Conv2d(3, 6, kernel_size=3),
    nn.BatchNorm2d(6),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(6, 2),
)
optimizer = torch.optim.Adam(model.parameters())
for images, labels in loader:
    loss = nn.functional.cross_entropy(model(images), labels)  # <- here
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
