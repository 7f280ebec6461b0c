"""State in files: a checkpoint, a run that goes on from it, and files that are refused."""

import io
import os
import pickle
import tempfile

import torch
from torch import nn


def made(rate):
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    return model, torch.optim.Adam(model.parameters(), lr=rate)


def train(model, optimizer, steps):
    data = torch.sin(torch.arange(8.0)).reshape(4, 2)
    for _ in range(steps):
        optimizer.zero_grad()
        model(data).pow(2).sum().backward()
        optimizer.step()


model, optimizer = made(0.01)
train(model, optimizer, 2)
for name, tensor in model.state_dict().items():
    print(name, tuple(tensor.size()))
folder = tempfile.mkdtemp()
path = os.path.join(folder, "checkpoint.tar")
torch.save(
    {
        "epoch": 5,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "loss": torch.tensor(0.4),
        "notes": ["text", None, (1, 2.5), True],
    },
    path,
)
held = torch.load(path, map_location="cpu")
print(held["epoch"], held["loss"], held["notes"], type(held["model"]).__name__, sorted(held["optimizer"]["state"]))
other, resumed = made(0.5)
print(other.load_state_dict(held["model"]))
resumed.load_state_dict(held["optimizer"])
print(resumed.param_groups[0]["lr"], resumed.param_groups[0]["betas"])
train(model, optimizer, 3)
train(other, resumed, 3)
print(all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values())))
buffer = io.BytesIO()
torch.save([torch.arange(3), nn.Parameter(torch.ones(2)), torch.ones(1, dtype=torch.bool)], buffer)
buffer.seek(0)
print(torch.load(buffer))


class Hostile:
    def __reduce__(self):
        return print, ("this must not be printed",)


def told(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__)


with open(path, "wb") as file:
    pickle.dump(Hostile(), file)
told(lambda: torch.load(path))
told(lambda: torch.load(os.path.join(folder, "nowhere.pt")))
told(lambda: other.load_state_dict({"0.weight": torch.ones(3, 2)}))
told(lambda: other.load_state_dict({name: torch.ones(7) for name in other.state_dict()}))
