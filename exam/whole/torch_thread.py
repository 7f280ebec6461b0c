"""Two models trained in threads while the main thread trains a third."""

import threading

import torch
from measure import Steps
from torch import nn
from torch_measure import finish


def make(seed):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(0.3 * torch.randn(p.shape, generator=generator))
    x = torch.randn(32, 8, generator=generator)
    return model, x, x[:, :1] - x[:, 1:2]


def train(model, x, y, count, steps=None):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(count):
        if steps:
            steps.begin()
        optimiser.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimiser.step()
        if steps:
            steps.end()
    losses[threading.current_thread().name] = loss.item()


torch.manual_seed(0)
losses = {}
made = [make(seed) for seed in range(3)]
threads = [threading.Thread(target=train, args=(*each, 500), name=f"thread {i}") for i, each in enumerate(made[1:])]
for thread in threads:
    thread.start()
steps = Steps()
train(*made[0], 500, steps)
for thread in threads:
    thread.join()
late = threading.Thread(target=train, args=(*made[1], 20), name="late")
late.start()
late.join()
print(sorted(losses.items()))
finish(steps, *(model for model, _, _ in made))
