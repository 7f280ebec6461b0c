import torch
from torch import nn


class MixtureOfExperts(nn.Module):
    def __init__(self, inputs=6, outputs=2, experts=5):
        super().__init__()
        self.gate = nn.Linear(inputs, experts)
        self.weight = nn.Parameter(torch.randn(experts, inputs, outputs) / inputs**0.5)

    def forward(self, x):
        self.gates = self.gate(x).softmax(dim=1)
        each = torch.einsum("bi,eio->beo", x, self.weight)
        return torch.einsum("be,beo->bo", self.gates, each)


torch.manual_seed(0)
moe = MixtureOfExperts()
optimizer = torch.optim.Adam(moe.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(12, 6)
    loss = nn.functional.mse_loss(moe(x), x[:, :2] * x[:, 2:4])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert torch.allclose(moe.gates.sum(dim=1), torch.ones(12))
