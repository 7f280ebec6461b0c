"""Shapes, joins, indexing, and the gradients through them."""

import torch

t = torch.arange(12.0).reshape(3, 4).requires_grad_()
print(t.view(2, 6), t.reshape(-1).shape, t.T.shape, t.permute(1, 0)[0])
print(t.unsqueeze(0).shape, t[None].squeeze().shape, t.flatten(), t.unsqueeze(-1).expand(3, 4, 2).shape)
print(torch.cat([t, t], dim=0).shape, torch.stack([t, t], dim=2).shape)
print(t.chunk(2, dim=1), t.split([1, 2]))
print(t[:, 1], t[1:, ::2], t[t > 8], t[[0, 2], [1, 3]])
print(t.gather(1, torch.tensor([[3], [0], [2]])), torch.index_select(t, 1, torch.tensor([0, 3])))
print(torch.where(t > 5, t, torch.zeros(())), t.masked_fill(t < 6, -1.0))
print(torch.zeros(3, 4).scatter(1, torch.tensor([[1], [0], [2]]), 5.0))
print(torch.zeros(2, 4).index_add(0, torch.tensor([0, 1, 0]), t))
print(t.max(dim=1), t.min(), t.argmax(), t.topk(2, dim=1).values)
print(t.sort(descending=True).indices[0], torch.sort(torch.tensor([3, 1, 2])))
print(t.sum(dim=0, keepdim=True), t.mean(1), t.std(), t.var(dim=1, unbiased=False), t.norm(dim=1))
print(torch.einsum("ij,kj->ik", t, t), t @ t.T == torch.mm(t, t.t()))
print(torch.tril(t), t.diag(), torch.outer(t[0], t[1])[1], torch.roll(t, 1, 0)[0])
print(t.cumsum(1), t.prod(dim=1), torch.unique(torch.tensor([2, 1, 2])), torch.bincount(torch.tensor([1, 1, 3])))
loss = (t.view(4, 3).t()[1] ** 2).sum() + t[1:, ::2].sum() + t.max() + t.gather(1, torch.tensor([[0], [1], [1]])).sum()
loss.backward()
print(t.grad)
