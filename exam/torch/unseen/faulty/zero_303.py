# expect: GT404 or GT504 or GT503
# cause: the soft threshold of 1.0 is larger than every coefficient, so that the code is zero and nothing is learned
# wrong: not encode.weight.grad.any()
# cure: softshrink(encode(x), lambd=1.0) -> softshrink(encode(x), lambd=0.01)
import torch
from torch import nn

torch.manual_seed(0)
encode, decode = nn.Linear(10, 20, bias=False), nn.Linear(20, 10, bias=False)
opt = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-3)
x = 0.1 * torch.randn(32, 10)
for _ in range(4):
    code = nn.functional.softshrink(encode(x), lambd=1.0)  # <- here
    loss = (decode(code) - x).square().mean() + 1e-3 * code.abs().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
