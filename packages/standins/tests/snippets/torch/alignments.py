"""CTC: the loss of all ways to align labels with longer sequences, and its gradient; margins of several labels."""

import torch
import torch.nn as nn
import torch.nn.functional as F

logits = torch.sin(torch.arange(48.0)).view(6, 2, 4).requires_grad_()
targets = torch.tensor([[1, 2, 2], [3, 1, 0]])
for reduction in ("mean", "sum", "none"):
    logits.grad = None
    loss = F.ctc_loss(
        F.log_softmax(logits, 2), targets, torch.tensor([6, 5]), torch.tensor([3, 2]), reduction=reduction
    )
    loss.sum().backward()
    print(loss, logits.grad[0], logits.grad.norm())
behind = nn.CTCLoss(blank=0)(F.log_softmax(logits, 2), torch.tensor([1, 2, 2, 3, 1]), (6, 5), (3, 2))
print(behind, nn.CTCLoss(blank=3, reduction="sum")(F.log_softmax(logits, 2), targets % 3, (6, 6), (2, 2)))
single = F.ctc_loss(F.log_softmax(logits[:, 0], 1), torch.tensor([1, 2]), torch.tensor([6]), torch.tensor([2]))
print(single)
short = torch.tensor([2, 6])
print(F.ctc_loss(F.log_softmax(logits, 2), targets, short, torch.tensor([3, 2]), reduction="none"))
print(F.ctc_loss(F.log_softmax(logits, 2), targets, short, torch.tensor([3, 2]), reduction="none", zero_infinity=True))
print(F.ctc_loss(F.log_softmax(logits, 2), targets, short, torch.tensor([0, 2]), reduction="none"))
try:
    F.ctc_loss(F.log_softmax(logits, 2), targets, torch.tensor([7, 5]), torch.tensor([3, 2]))
except RuntimeError:
    print("RuntimeError")

scores = torch.cos(torch.arange(9.0)).view(3, 3).requires_grad_()
labels = torch.tensor([[0, 2, -1], [1, -1, 0], [2, 1, 0]])
margin = nn.MultiLabelMarginLoss()(scores, labels)
margin.backward()
print(margin, scores.grad)
print(nn.MultiMarginLoss(p=2, weight=torch.tensor([1.0, 2.0, 3.0]))(scores, torch.tensor([0, 1, 2])))

image = torch.sin(torch.arange(18.0)).view(1, 2, 3, 3).requires_grad_()
for options in (
    {"scale_factor": 2, "mode": "bicubic", "align_corners": False},
    {"size": (4, 5), "mode": "bicubic", "align_corners": True},
    {"size": 2, "mode": "area"},
    {"scale_factor": 1.5, "mode": "nearest-exact"},
    {"scale_factor": 1.7, "mode": "bilinear"},
):
    image.grad = None
    other = F.interpolate(image, **options)
    (other**2).sum().backward()
    print(options["mode"], other.shape, other.sum(), image.grad[0, 0])
for arguments in ({"mode": "bicubic", "size": 3}, {"mode": "nearest", "size": 3}):
    try:
        F.interpolate(torch.ones(3, 3), **arguments)
    except NotImplementedError:
        print("NotImplementedError")
