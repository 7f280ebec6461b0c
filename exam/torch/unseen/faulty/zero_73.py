# expect: GT404 or GT504
# cause: the biases of the first layer were set to a large negative number, so that no relu is active for any input
# wrong: not autoencoder.enter.weight.grad.any()
# cure: nn.init.constant_(self.enter.bias, -10) -> nn.init.constant_(self.enter.bias, 0)
import torch
from torch import nn


class SparseAutoencoder(nn.Module):
    def __init__(self, wide=12, narrow=30):
        super().__init__()
        self.enter, self.leave = nn.Linear(wide, narrow), nn.Linear(narrow, wide)
        nn.init.constant_(self.enter.bias, -10)  # <- here

    def forward(self, x):
        code = self.enter(x).clamp(min=0)  # <- here
        return self.leave(code), code


torch.manual_seed(0)
autoencoder = SparseAutoencoder()
opt = torch.optim.AdamW(autoencoder.parameters(), lr=1e-3)
x = torch.randn(64, 12)
for step in range(4):
    back, code = autoencoder(x)
    loss = (back - x).square().mean() + 1e-3 * code.abs().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()  # <- asked
