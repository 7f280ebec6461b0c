# expect: GT117
# cause: the pooled features have two axes, and the mean is taken over axis 2
# wrong: raises IndexError
# cure: features.mean(dim=2) -> features.mean(dim=1)
import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Conv1d(2, 5, 3), nn.ReLU(), nn.AdaptiveMaxPool1d(4), nn.Flatten())
series = torch.randn(6, 2, 20)
target = torch.randn(6)

features = trunk(series)
prediction = features.mean(dim=2)  # <- here
loss = nn.functional.mse_loss(prediction, target)
loss.backward()
