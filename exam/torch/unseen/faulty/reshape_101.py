# expect: GT510 or GT501
# cause: the sequence is time first, and view was used to put the batch first, which mixes examples
# wrong: (first - x[:, 0]).abs().max() > 0
# cure: x.reshape(6, 9, 4) -> x.transpose(0, 1)
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(9, 6, 4)
model = nn.GRU(4, 5, batch_first=True)
head = nn.Linear(5, 1)
y = torch.randn(6, 1)
batch = x.reshape(6, 9, 4)  # <- here
first = batch[0]
opt = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    out, _ = model(batch)
    loss = (head(out[:, -1]) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
