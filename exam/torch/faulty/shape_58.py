# expect: GT116 or GT110
# cause: batch normalisation was made for the 10 inputs and stands after the layer with 20 outputs
# wrong: raises RuntimeError
# cure: nn.BatchNorm1d(10) -> nn.BatchNorm1d(20)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(10, 20),
    nn.BatchNorm1d(10),  # <- here
    nn.ReLU(),
    nn.Linear(20, 1),
)
x, y = torch.randn(16, 10), torch.randn(16, 1)
prediction = model(x)  # <- here
loss = nn.functional.mse_loss(prediction, y)
loss.backward()
