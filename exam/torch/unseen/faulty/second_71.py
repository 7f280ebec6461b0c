# expect: GT308
# cause: the encoder's codes are computed once before the epochs, so that the second epoch walks a graph that is gone
# wrong: raises RuntimeError
# cure: codes = encode(images)  # <- here -> codes = None
# cure: decode(codes) -> decode(encode(images))
import torch

torch.manual_seed(0)
down = torch.randn(16, 3, requires_grad=True)
up = torch.randn(3, 16, requires_grad=True)
images = torch.rand(20, 16)


def encode(x):
    return torch.tanh(x @ down)


def decode(c):
    return torch.sigmoid(c @ up)


codes = encode(images)  # <- here
opt = torch.optim.Adam([down, up], lr=0.01)
for epoch in range(3):
    loss = (decode(codes) - images).square().mean()
    opt.zero_grad()
    loss.backward()  # <- asked
    opt.step()
