# expect: GT110
# cause: the one-hot mask has the classes on its last axis, the prediction on axis 1
# wrong: raises RuntimeError
# cure: F.one_hot(mask, 3).float() -> F.one_hot(mask, 3).permute(0, 3, 1, 2).float()
import torch
import torch.nn.functional as F
from torch import nn


def dice_loss(logits, mask, smooth=1.0):
    p = torch.softmax(logits, dim=1)
    target = F.one_hot(mask, 3).float()  # <- here
    overlap = (p * target).sum(dim=(2, 3))  # <- here
    total = p.sum(dim=(2, 3)) + target.sum(dim=(2, 3))
    return 1 - ((2 * overlap + smooth) / (total + smooth)).mean()


torch.manual_seed(0)
segment = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
optimizer = torch.optim.Adam(segment.parameters(), lr=1e-3)
for step in range(3):
    image, mask = torch.rand(4, 1, 10, 14), torch.randint(0, 3, (4, 10, 14))
    loss = dice_loss(segment(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
