# expect: GT114
# cause: the last batch has 2 samples, and the batch size 8 is written into the view
# wrong: raises RuntimeError
# cure: x.view(batch_size, 36) -> x.view(-1, 36)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
batch_size = 8
digits = TensorDataset(torch.rand(26, 6, 6), torch.randint(0, 4, (26,)))
loader = DataLoader(digits, batch_size=batch_size)

model = nn.Linear(36, 4)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

for x, y in loader:
    x = x.view(batch_size, 36)  # <- here
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
