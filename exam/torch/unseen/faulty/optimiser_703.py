# expect: GT513
# cause: the biases of the levels are Parameters in a plain list, which the module does not register
# wrong: all(torch.equal(b, torch.zeros(8)) for b in model.biases)
# cure: [nn.Parameter(torch.zeros(width)) for _ in range(depth)] -> nn.ParameterList([nn.Parameter(torch.zeros(width)) for _ in range(depth)])
import torch
from torch import nn


class SharedDepth(nn.Module):
    """One matrix that is applied several times, with a bias for each time."""

    def __init__(self, width=8, depth=4):
        super().__init__()
        self.shared = nn.Linear(width, width, bias=False)
        self.biases = [nn.Parameter(torch.zeros(width)) for _ in range(depth)]  # <- here
        self.readout = nn.Linear(width, 3)

    def forward(self, x):
        for bias in self.biases:
            x = torch.tanh(self.shared(x) + bias)
        return self.readout(x)


torch.manual_seed(0)
model = SharedDepth()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # <- asked
for step in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(20, 8)), torch.randint(0, 3, (20,)))
    optimizer.zero_grad()
    loss.backward()  # <- asked
    optimizer.step()  # <- asked
