"""Default types, and the types of results."""

import torch

i = torch.tensor([1, 2, 3])
f = torch.tensor([1.0, 2.0, 3.0])
d = f.double()
print(i.dtype, f.dtype, d.dtype, (i > 1).dtype)
print((i + 1).dtype, (i + 1.5).dtype, (i / 2).dtype, (i // 2).dtype)
print((i + f).dtype, (f + d).dtype, (f * torch.tensor(2.0, dtype=torch.float64)).dtype)
print((i * torch.tensor(2.5)).dtype, (d * 2).dtype, (f.half() + 1).dtype)
print(i / 2, i // 2, i % 2, i**2, -7 // torch.tensor(2))
print(torch.sqrt(torch.tensor(2)), torch.exp(i))
print(i.sum().dtype, (i > 1).sum().dtype, i.float().mean())
print(f.int(), f.long(), f.bool(), torch.tensor([0.7, -0.7]).long())
print(torch.result_type(i, 1.0), torch.promote_types(torch.int32, torch.float32))
print(torch.tensor([1, 2.5]), torch.tensor([True, 2]))
try:
    i.mean()
except RuntimeError:
    print("the mean of integers is refused")
try:
    i += 1.5
except RuntimeError:
    print("integers cannot hold the result")
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x.double() * 2).sum().backward()
print(x.grad)
torch.set_default_dtype(torch.float64)
print(torch.tensor([1.0]), torch.zeros(2).dtype, torch.ones(1, dtype=torch.float32))
torch.set_default_dtype(torch.float32)
