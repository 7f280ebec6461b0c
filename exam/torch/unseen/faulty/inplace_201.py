# expect: GT309
# cause: the ReLU works in place on the result of the sigmoid, which the sigmoid has saved for its derivative
# wrong: raises RuntimeError
# cure: nn.ReLU(inplace=True) -> nn.ReLU()
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 9), nn.Sigmoid(), nn.ReLU(inplace=True), nn.Linear(9, 1))  # <- here
x, y = torch.randn(12, 5), torch.randn(12, 1)
loss = (model(x) - y).abs().mean()  # <- here
loss.backward()  # <- asked
