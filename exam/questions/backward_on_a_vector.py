# library: torch
# question: Why does backward want a gradient for a vector?
# answer: A gradient is of one number. The losses of the examples are many: their mean or sum is what is
#   meant, or a weight for each of them.
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
x, y = torch.randn(16, 4), torch.randn(16, 1)
criterion = torch.nn.MSELoss(reduction="none")
loss = criterion(model(x), y)
loss.backward()
