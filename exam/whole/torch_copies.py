"""A model saved, loaded, pickled, deep-copied, traced and averaged while it is trained."""

import copy
import io
import pickle

import torch
from measure import Steps
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch_measure import finish


def make():
    return nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(24, 1))


def save_and_load(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


torch.manual_seed(0)
x = torch.randn(16, 2, 8)
y = x.mean((1, 2)).unsqueeze(1)
model = make()
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
best = None
steps = Steps()
for step in range(300):
    with steps:
        optimiser.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimiser.step()
        average.update_parameters(model)
        if best is None or loss.item() < best[0]:
            best = loss.item(), copy.deepcopy(model.state_dict())
    if step % 100 == 10:
        saved = save_and_load({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step})
        model = copy.deepcopy(model)
        model.load_state_dict(saved["model"])
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
        optimiser.load_state_dict(saved["optimiser"])
        model = pickle.loads(pickle.dumps(model))
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
print(f"best {best[0]:.6f}")
model.eval()
traced = torch.jit.trace(model, x)
scripted = torch.jit.script(model)
exported = torch.export.export(model, (x,)).module()
print([bool(torch.equal(model(x), other(x))) for other in (traced, scripted, exported)])
finish(steps, model, average)
