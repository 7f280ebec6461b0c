# expect: GT201 or GT202 because GT202
# cause: the gate is a parameter of the block, but forward returns the branch without multiplying by it
# wrong: blocks[0].gate.grad is None
# cure: return x + branch -> return x + self.gate * branch
import torch
import torch.nn as nn


class GatedBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gate = nn.Parameter(torch.full((d,), 0.1))  # <- here
        self.inner = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        branch = self.inner(x)
        return x + branch  # <- here


torch.manual_seed(0)
blocks = nn.Sequential(*(GatedBlock(6) for _ in range(3)))
opt = torch.optim.AdamW(blocks.parameters(), lr=1e-3)
signal = torch.randn(10, 6)
for _ in range(3):
    loss = nn.functional.mse_loss(blocks(signal), signal.roll(1, dims=1))
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
