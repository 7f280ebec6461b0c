"""A phase retrieval with complex numbers: the loss is real, the spectrum complex."""

import torch

torch.manual_seed(0)
measured = torch.fft.rfft(torch.randn(16)).abs()
signal = torch.randn(16, requires_grad=True)
opt = torch.optim.LBFGS([signal], lr=0.2, max_iter=4)


def closure():
    opt.zero_grad()
    misfit = (torch.fft.rfft(signal).abs() - measured).square().sum()
    misfit.backward()
    return misfit


values = [float(opt.step(closure)) for _ in range(4)]
assert values[-1] < values[0]
