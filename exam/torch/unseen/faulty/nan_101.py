# expect: GT401
# cause: the sum of squares overflows in half precision, whose largest number is 65504
# wrong: not torch.isfinite(loss)
# cure: (distances.half() ** 2).sum() -> (distances**2).sum()
import torch
from torch import nn

torch.manual_seed(0)
points = torch.randn(200, 3) * 40
head = nn.Linear(3, 1)
distances = head(points) * 10
loss = (distances.half() ** 2).sum()  # <- here
loss.backward()
