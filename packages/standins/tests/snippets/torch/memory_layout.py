"""Strides, offsets and contiguity of views: stretched, with axes added and moved, windows, diagonals, empty."""

import torch

z = torch.zeros
views = {
    "unsqueeze expand": z(3, 4).unsqueeze(1).expand(3, 5, 4),
    "expand in front": z(3).expand(2, 3),
    "expand at the end": z(3, 1).expand(3, 4),
    "expand both": z(1, 3, 1).expand(2, 3, 4),
    "expand of one number": z(()).expand(2),
    "expand keeps": z(3).expand(2, -1),
    "expand to length 1": z(4).expand(1, 4),
    "expand_as": z(3, 1).expand_as(z(3, 2)),
    "broadcast_to": z(3, 4).broadcast_to(2, 3, 4),
    "broadcast_to a tuple": z(3, 4).broadcast_to((2, 3, 4)),
    "newaxis": z(3, 4)[:, None],
    "newaxis expand": z(3, 4)[:, None].expand(3, 5, 4),
    "unsqueeze at the end": z(3).unsqueeze(-1),
    "unsqueeze at the end, expand": z(3).unsqueeze(-1).expand(3, 3),
    "unsqueeze of a transpose": z(3, 4).t().unsqueeze(0),
    "unsqueeze 0": z(3, 4).unsqueeze(0),
    "unsqueeze 2": z(3, 4).unsqueeze(2),
    "squeeze": z(3, 1, 4).squeeze(1),
    "transpose": z(3, 4).t(),
    "transpose of a column": z(3, 1).t(),
    "select": z(2, 3, 4)[:, 1],
    "steps": z(2, 3, 4)[:, ::2],
    "offset": z(2, 3, 4)[1, 1:],
    "narrow": z(2, 3).narrow(1, 1, 2),
    "unfold": z(4, 6).unfold(1, 2, 2),
    "unfold of the first": z(5, 2).unfold(0, 3, 1),
    "diagonal": z(3, 4).diagonal(),
    "view": z(2, 6).view(2, 2, 3),
    "view of a transpose": z(6, 2).t().view(2, 2, 3),
    "chunk": z(2, 3).chunk(3, 1)[1],
    "split": z(2, 3).split(1, 1)[1],
    "unbind": z(2, 3).unbind(1)[2],
    "movedim": z(2, 3, 4).movedim(0, 2),
    "contiguous": z(4).expand(3, -1).contiguous(),
    "clone of expand": z(3).expand(2, 3).clone(),
    "clone of a transpose": z(3, 4).t().clone(),
    "real": z(2, 2, dtype=torch.complex64).real,
    "empty": z(0, 3),
    "empty at the end": z(3, 0),
    "empty between": z(2, 0, 3),
}
for name, view in views.items():
    print(name, tuple(view.shape), view.stride(), view.storage_offset(), view.is_contiguous())

x = z(3).expand(2, 3)
try:
    x.add_(1)
except RuntimeError as error:
    print("a write to what is stretched:", type(error).__name__)
