"""Temporal difference with eligibility traces by hand: gradients are read, cleared by None, and used as constants."""

import torch
from torch import nn

torch.manual_seed(0)
value = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
traces = [torch.zeros_like(p) for p in value.parameters()]
state = torch.randn(3)
for step in range(8):
    following, reward = 0.8 * state + 0.3 * torch.randn(3), float(state.sum() > 0)
    for p in value.parameters():
        p.grad = None
    v = value(state)
    v.backward()
    with torch.no_grad():
        error = reward + 0.95 * value(following) - v
        for p, trace in zip(value.parameters(), traces):
            trace.mul_(0.9).add_(p.grad)
            p.add_(0.01 * error.item() * trace)
    state = following
assert all(t.isfinite().all() for t in traces)
