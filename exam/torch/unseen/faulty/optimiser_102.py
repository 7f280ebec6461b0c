# expect: GT205 or GT310 or GT513
# cause: the scaled weights are no leaf any more, and an optimiser takes leaves only
# wrong: raises ValueError
# cure: torch.randn(5, 1, requires_grad=True) * 0.1 -> (torch.randn(5, 1) * 0.1).requires_grad_()
import torch

torch.manual_seed(0)
x, y = torch.randn(20, 5), torch.randn(20, 1)
w = torch.randn(5, 1, requires_grad=True) * 0.1  # <- here
opt = torch.optim.SGD([w], lr=0.1)  # <- here
for _ in range(3):
    loss = (x @ w - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
