# expect: GT101
# cause: the Poisson rates come out of the network as (40, 1), the counts are a vector (40,), and the likelihood mixes them
# wrong: nll.shape != counts.shape
# cure: log_rate = net(traffic) -> log_rate = net(traffic).flatten()
from dataclasses import dataclass

import torch


@dataclass
class Config:
    days: int = 40
    features: int = 6
    lr: float = 0.02


cfg = Config()
gen = torch.Generator().manual_seed(3)
traffic = torch.rand(cfg.days, cfg.features, generator=gen)
counts = torch.poisson(traffic.sum(1), generator=gen)
net = torch.nn.Linear(cfg.features, 1)
opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
for _ in range(4):
    log_rate = net(traffic)
    nll = torch.exp(log_rate) - counts * log_rate  # <- here
    opt.zero_grad()
    nll.sum().backward()
    opt.step()
