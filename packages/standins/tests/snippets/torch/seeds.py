"""Generators: states that are tensors of bytes, blocks that nobody notices, and the same numbers again."""

import torch
from torch import nn

generator = torch.Generator()
print(generator.device, generator.initial_seed())
generator.manual_seed(3)
state = generator.get_state()
first = torch.randn(3, generator=generator)
generator.set_state(state)
print(torch.equal(first, torch.randn(3, generator=generator)), type(state).__name__, state.dtype)
clone = generator.clone_state()
print(torch.equal(torch.rand(2, generator=generator), torch.rand(2, generator=clone)))
print(torch.manual_seed(1) is torch.default_generator, torch.initial_seed())
kept = torch.get_rng_state()
first = torch.rand(2)
torch.set_rng_state(kept)
with torch.random.fork_rng():
    torch.rand(5)
print(torch.equal(first, torch.rand(2)))
torch.manual_seed(0)
dropped = nn.Dropout(0.5)(torch.ones(1000))
torch.manual_seed(0)
print(torch.equal(dropped, nn.Dropout(0.5)(torch.ones(1000))), dropped.unique())
out = torch.empty(2, 3)
print(torch.rand(2, 3, out=out) is out, torch.empty(2).normal_(5, 0), torch.empty(3).cauchy_().shape)
print(torch.empty(3).geometric_(0.5).shape, torch.randint(3, 4, (2,)), torch.randperm(4).sort()[0])
for wrong in (
    lambda: torch.normal(0.0, -1.0, (2,)),
    lambda: torch.randint(5, 3, (2,)),
    lambda: torch.rand(-1),
    lambda: torch.bernoulli(torch.tensor([2.0])),
    lambda: torch.multinomial(torch.tensor([-1.0, 1.0]), 1),
    lambda: nn.Dropout(1.5),
):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__)
