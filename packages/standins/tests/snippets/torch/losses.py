"""Losses and their gradients."""

import torch
import torch.nn.functional as F
from torch import nn

logits = torch.tensor([[2.0, 0.5, -1.0], [0.1, 0.2, 0.3]], requires_grad=True)
labels = torch.tensor([0, 2])
loss = nn.CrossEntropyLoss()(logits, labels)
print(loss)
loss.backward()
print(logits.grad)
print(F.cross_entropy(logits, labels, reduction="none"))
print(F.cross_entropy(logits, labels, label_smoothing=0.1), F.cross_entropy(logits, labels, ignore_index=0))
print(F.cross_entropy(logits, torch.softmax(logits, 1).detach()))
print(nn.NLLLoss()(F.log_softmax(logits, dim=1), labels))
print(F.cross_entropy(logits[0], labels[0]))

prediction = torch.tensor([0.2, 0.7, 0.9], requires_grad=True)
target = torch.tensor([0.0, 1.0, 1.0])
for criterion in (nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss(), nn.HuberLoss(delta=0.5), nn.BCELoss()):
    prediction.grad = None
    value = criterion(prediction, target)
    value.backward()
    print(type(criterion).__name__, value, prediction.grad)
print(nn.BCEWithLogitsLoss()(prediction, target), nn.MSELoss(reduction="sum")(prediction, target))
print(F.mse_loss(prediction, target, reduction="none"))
print(F.kl_div(torch.log(prediction), target, reduction="sum"))
print(F.cosine_similarity(logits, logits.flip(1)))
print(F.binary_cross_entropy_with_logits(prediction, target, pos_weight=torch.tensor(2.0)))
