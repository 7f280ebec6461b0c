# expect: GT509 or GT118
# cause: cross_entropy is given one-hot labels of integers instead of class numbers
# wrong: raises RuntimeError
# cure: criterion(model(x), one_hot) -> criterion(model(x), one_hot.argmax(dim=1))
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(14, 5)
species = torch.randint(0, 3, (14,))
one_hot = F.one_hot(species, num_classes=3)  # <- here
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = criterion(model(x), one_hot)  # <- here
    loss.backward()
    optimizer.step()
