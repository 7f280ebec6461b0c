# expect: GT307
# cause: the loss is a complex number, as the field is multiplied with itself instead of its conjugate
# wrong: raises RuntimeError
# cure: loss = (field * field).mean()  # <- here -> loss = (field * field.conj()).real.mean()
import torch

torch.manual_seed(0)
phase = torch.randn(32, requires_grad=True)
target = torch.fft.fft(torch.exp(1j * torch.linspace(0, 3, 32)))
opt = torch.optim.Adam([phase], lr=0.05)
for _ in range(3):
    field = torch.fft.fft(torch.exp(1j * phase)) - target
    loss = (field * field).mean()  # <- here
    opt.zero_grad()
    loss.backward()  # <- here
    opt.step()
