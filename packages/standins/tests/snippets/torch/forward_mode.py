"""Dual tensors: tangents that move along."""

import torch
import torch.autograd.forward_ad as fwAD

primal = torch.tensor([1.0, 2.0, 3.0])
tangent = torch.tensor([1.0, 0.0, -1.0])
with fwAD.dual_level():
    dual = fwAD.make_dual(primal, tangent)
    out = dual**2 + torch.sin(dual)
    unpacked = fwAD.unpack_dual(out)
    print(unpacked.primal, unpacked.tangent)
    print(fwAD.unpack_dual(primal).tangent)
    model = torch.nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.arange(6.0).reshape(2, 3))
    print(fwAD.unpack_dual(model(dual)).tangent.detach())
