"""Layers, optimisers and schedules beside PyTorch's: `python -m tests.nn.conformance` prints a table.

Runs where PyTorch is installed. `--write` stores a few of PyTorch's numbers of each case, which the tests compare with
where it is not. Ends with 1 if anything differs.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from tests.nn import cases

TOLERANCE = 1e-8
"""PyTorch computes its hard sigmoid with a sixth in single precision; everything else is within 1e-9."""


def their_layer(case: cases.LayerCase) -> dict[str, Any]:
    """What PyTorch's layer gives, with the numbers of ours copied into it."""
    import torch

    ours = case.layer()
    options = dict(case.kwargs)
    layer = getattr(torch.nn, case.name)(*case.args, **options).double().train(case.training)
    layer.load_state_dict({name: torch.tensor(value) for name, value in ours.state_dict().items()})
    inputs = [torch.tensor(x, requires_grad=x.dtype.kind == "f") for x in case.inputs()]
    call = {n: torch.tensor(v) if isinstance(v, np.ndarray) else v for n, v in cases.masks(case).items()}
    outputs = [x for x in cases._listed(layer(*inputs, **call)) if x is not None]
    total = sum((x.reshape(-1) * torch.tensor(cases.weights(x.numel()))).sum() for x in outputs)
    total.backward()
    found = {f"output {number}": x.detach().numpy() for number, x in enumerate(outputs)}
    found |= {f"gradient of {name}": p.grad.numpy() for name, p in layer.named_parameters()}
    found |= {f"gradient of input {number}": x.grad.numpy() for number, x in enumerate(inputs) if x.is_floating_point()}
    return found | {name: buffer.numpy() for name, buffer in layer.named_buffers()}


def their_optimiser(key: str) -> dict[str, Any]:
    """PyTorch's parameters after the same steps."""
    import torch

    name, options = cases.OPTIMISERS[key]
    params = {name: torch.tensor(value, requires_grad=True) for name, value in cases.START.items()}
    opt = getattr(torch.optim, name)(params.values(), **options)
    data = torch.tensor(cases.DATA)

    def closure() -> Any:
        opt.zero_grad()
        value = cases.loss(params, torch.exp, data)
        value.backward()
        return value

    for _ in range(cases.STEPS):
        opt.step(closure)
    return {name: value.detach().numpy() for name, value in params.items()}


def their_schedule(key: str) -> dict[str, Any]:
    """PyTorch's learning rates."""
    import torch

    name, options, _ = cases.SCHEDULES[key]
    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    schedule = getattr(torch.optim.lr_scheduler, name)(opt, **options)
    rates = []
    for count in range(cases.STEPS):
        rates.append(opt.param_groups[0]["lr"])
        opt.step()
        if count < cases.STEPS - 1:
            schedule.step()
    return {"rates": np.array(rates)}


def their_plateau(key: str) -> dict[str, Any]:
    """PyTorch's learning rates for the same metrics."""
    import torch

    opt = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, **cases.PLATEAUS[key])
    rates = []
    for metric in cases.METRICS:
        plateau.step(metric)
        rates.append(opt.param_groups[0]["lr"])
    return {"rates": np.array(rates)}


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """The largest difference, relative to the size of the numbers; infinite if there are other arrays or shapes."""
    if set(ours) != set(theirs) or any(np.shape(ours[name]) != np.shape(theirs[name]) for name in ours):
        return np.inf
    each = [
        np.max(np.abs(np.asarray(ours[n]) - theirs[n]), initial=0.0) / max(1.0, np.max(np.abs(theirs[n]), initial=0.0))
        for n in ours
    ]
    return float(max(each, default=0.0))


def main(arguments: list[str]) -> int:
    """Print the table; the number of cases that differ decides how it ends."""
    import torch

    parts = {
        "layers": (cases.LAYERS, lambda key: cases.run(cases.LAYERS[key]), lambda k: their_layer(cases.LAYERS[k])),
        "optimisers": (cases.OPTIMISERS, cases.optimised, their_optimiser),
        "schedules": (cases.SCHEDULES, cases.scheduled, their_schedule),
        "plateaus": (cases.PLATEAUS, cases.levelled, their_plateau),
    }
    numbers: dict[str, Any] = {}
    failed = 0
    print(f"PyTorch {torch.__version__}, double precision; the largest difference of outputs and gradients\n")
    for part, (listed, ours, theirs) in parts.items():
        numbers[part] = {}
        for key in listed:
            right = theirs(key)
            numbers[part][key] = cases.digest(right)
            apart = difference(ours(key), right)
            failed += not apart <= TOLERANCE
            print(f"{'ok  ' if apart <= TOLERANCE else 'DIFF'} {apart:8.1e}  {part[:-1]:9}  {key}")
    print(f"\n{sum(map(len, numbers.values()))} cases, {failed} differ")
    if "--write" in arguments:
        cases.STORED.write_text(json.dumps(numbers, indent=1) + "\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
