import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.prefix = nn.Parameter(torch.randn(3, width))
        self.infix = nn.Parameter(torch.randn(2, width))
        self.score = nn.Linear(width, 2)

    def forward(self, embedded):
        context = torch.cat([self.prefix, self.infix], dim=0)
        context = context.expand(len(embedded), -1, -1)
        joined = torch.cat([context, embedded], dim=1)
        return self.score(torch.tanh(joined).mean(dim=1))


torch.manual_seed(0)
prompt = Prompt()
optimizer = torch.optim.Adam(prompt.parameters(), lr=1e-2)
for step in range(4):
    x, y = torch.randn(16, 6, 8), torch.randint(0, 2, (16,))
    loss = nn.functional.cross_entropy(prompt(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert prompt.prefix.grad is not None
