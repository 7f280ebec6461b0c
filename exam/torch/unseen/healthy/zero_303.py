import torch
from torch import nn

torch.manual_seed(0)
encode, decode = nn.Linear(10, 20, bias=False), nn.Linear(20, 10, bias=False)
opt = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-3)
x = 0.1 * torch.randn(32, 10)
for _ in range(4):
    code = nn.functional.softshrink(encode(x), lambd=0.01)
    loss = (decode(code) - x).square().mean() + 1e-3 * code.abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert encode.weight.grad.any()
