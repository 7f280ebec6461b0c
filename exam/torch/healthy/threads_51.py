"""Two models trained in two threads, each with its own loop."""

import threading

import torch
from torch import nn

results = {}


def train(name, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(20, 3, generator=generator)
    y = x.sum(dim=1, keepdim=True)
    weight = torch.zeros(3, 1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(x @ weight, y)
        loss.backward()
        optimizer.step()
    results[name] = loss.item()


threads = [threading.Thread(target=train, args=(f"model {i}", i)) for i in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(value < 1e-2 for value in results.values())
