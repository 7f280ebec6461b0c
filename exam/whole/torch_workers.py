"""A DataLoader with two worker processes whose data set computes with PyTorch, and a collate function."""

import random

import numpy as np
import torch
from measure import Steps
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torch_measure import finish


class Noisy(Dataset):
    def __init__(self, count):
        self.x = torch.linspace(-1, 1, count)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        x = self.x[index] + 0.01 * torch.randn(()) + 0.01 * float(np.random.rand()) + 0.01 * random.random()
        return torch.stack([x, x**2, x**3]), torch.sin(3 * x)


def collate(items):
    inputs, targets = zip(*items, strict=True)
    return {"inputs": torch.stack(inputs), "targets": torch.stack(targets).unsqueeze(1)}


def seed_worker(worker):
    seed = torch.initial_seed() % 2**32
    np.random.seed(seed)
    random.seed(seed)


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    generator = torch.Generator().manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    steps = Steps()
    for context in ("fork", "spawn"):
        loader = DataLoader(
            Noisy(256), batch_size=16, shuffle=True, num_workers=2, collate_fn=collate, worker_init_fn=seed_worker,
            generator=generator, multiprocessing_context=context, persistent_workers=True,
        )  # fmt: skip
        for epoch in range(16):
            total = 0.0
            for batch in loader:
                with steps:
                    loss = nn.functional.mse_loss(model(batch["inputs"]), batch["targets"])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
                total += loss.item()
            print(f"{context} epoch {epoch}: {total:.6f}")
    finish(steps, model)


if __name__ == "__main__":
    main()
