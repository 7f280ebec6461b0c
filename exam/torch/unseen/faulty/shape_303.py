# expect: GT118 or GT116 or GT314
# cause: the weights of the classes are 3 and the network has 4 outputs
# wrong: raises RuntimeError
# cure: weight=torch.tensor([1.0, 2.0, 0.5]) -> weight=torch.tensor([1.0, 2.0, 0.5, 1.0])
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 4)  # <- here
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5]))  # <- here
x, y = torch.randn(12, 5), torch.randint(0, 3, (12,))
loss = criterion(model(x), y)  # <- here
loss.backward()
