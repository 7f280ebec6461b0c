# expect: GT314 or GT118
# cause: the loss is a class, which is given the predictions and the targets in place of being made first
# wrong: raises RuntimeError
# cure: nn.CrossEntropyLoss(model(x), y) -> nn.CrossEntropyLoss()(model(x), y)
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(16, 5), torch.randint(0, 3, (16,))
model = nn.Linear(5, 3)
loss = nn.CrossEntropyLoss(model(x), y)  # <- here
loss.backward()
