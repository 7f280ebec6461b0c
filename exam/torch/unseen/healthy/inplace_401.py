import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 4)
opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
stream = torch.randn(2, 30, 4)
state = torch.zeros(1, 2, 8)
for start in range(0, 24, 6):
    x, y = stream[:, start : start + 6], stream[:, start + 1 : start + 7]
    output, state = rnn(x, state.detach())
    loss = (head(output) - y).square().mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
assert torch.isfinite(loss)
