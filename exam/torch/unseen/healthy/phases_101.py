"""Three phases with a loop each, in other functions: the second and third are met when the first is long over."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(30, 4), torch.randn(30, 1)
encoder, head = nn.Linear(4, 3), nn.Linear(3, 1)


def pretrain(steps):
    decoder = nn.Linear(3, 4)
    opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    for _ in range(steps):
        loss = (decoder(torch.tanh(encoder(x))) - x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def probe(steps):
    opt = torch.optim.Adam(head.parameters(), lr=1e-2)
    for _ in range(steps):
        with torch.no_grad():
            code = torch.tanh(encoder(x))
        loss = (head(code) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def tune(steps):
    opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-3)
    for _ in range(steps):
        loss = (head(torch.tanh(encoder(x))) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss


pretrain(25)
probe(25)
assert tune(25).isfinite()
