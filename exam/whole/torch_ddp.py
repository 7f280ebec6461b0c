"""DistributedDataParallel with gloo and one process: `no_sync`, accumulated gradients, a communication hook."""

import os
import tempfile

import torch
import torch.distributed as dist
from measure import Steps
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel
from torch_measure import finish

with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{os.path.join(folder, 'store')}", rank=0, world_size=1)
    torch.manual_seed(0)
    x = torch.randn(64, 12)
    y = torch.sin(x.sum(1, keepdim=True))
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
    parallel = DistributedDataParallel(model)
    parallel.register_comm_hook(None, default_hooks.allreduce_hook)
    optimiser = torch.optim.Adam(parallel.parameters(), lr=1e-2)
    steps = Steps()
    for step in range(400):
        with steps:
            with parallel.no_sync():
                (nn.functional.mse_loss(parallel(x[:32]), y[:32]) / 2).backward()
            loss = nn.functional.mse_loss(parallel(x[32:]), y[32:]) / 2
            loss.backward()
            optimiser.step()
            optimiser.zero_grad()
        if step % 100 == 0:
            total = loss.detach().clone()
            dist.all_reduce(total)
            print(f"step {step}: loss {total.item():.6f}")
    finish(steps, model)
    dist.destroy_process_group()
