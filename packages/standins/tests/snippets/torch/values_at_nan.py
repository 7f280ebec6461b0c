"""What reductions, comparisons and activations make of NaN, of ties and of corners: values and gradients."""

import torch
from torch.nn import functional as F

nan, inf = float("nan"), float("inf")


def gradients(function, *numbers):
    given = [torch.tensor(x, requires_grad=True) for x in numbers]
    function(*given).sum().backward()
    return [x.grad for x in given]


def along_rows(function, x):
    found = function(x, dim=1)
    return found if isinstance(found, torch.Tensor) else found.values


rows = [[1.0, nan, 3.0], [nan, nan, 3.0], [3.0, 1.0, 3.0], [1.0, 1.0, 3.0], [1.0, 1.0, nan], [nan, nan, nan]]
for name in ("max", "min", "amax", "amin", "median", "nanmedian"):
    function = getattr(torch, name)
    for row in rows:
        print(name, row, function(torch.tensor(row)))
        if name not in ("amax", "amin"):
            print("  ", gradients(function, row))
    along = function(torch.tensor(rows), dim=1)
    print(name, "along an axis", along)
    print("  ", gradients(lambda x, f=function: along_rows(f, x), rows[:4]))

for ties in ([0.1, 0.1, 0.1, 5.0, 0.0], [0.7] * 3):
    print(torch.median(torch.tensor(ties)) == ties[0], gradients(torch.median, ties))

pairs = [1.0, nan, 3.0, nan, 0.0, 0.0], [1.0, 2.0, nan, nan, 0.0, 1.0]
for name in ("maximum", "minimum", "fmax", "fmin", "atan2", "max", "copysign"):
    function = getattr(torch, name)
    print(name, function(*map(torch.tensor, pairs)), gradients(function, *pairs))
print(torch.atan2(torch.tensor([0.0, 0.0, -0.0]), torch.tensor([0.0, -0.0, -0.0])))
print(gradients(lambda x: torch.stack(list(torch.aminmax(x))), [1.0, 2.0, 3.0]))

activations = (
    "selu elu celu relu relu6 leaky_relu silu mish softplus hardtanh hardsigmoid softshrink hardshrink tanhshrink "
    "logsigmoid rrelu sigmoid tanh hardswish"
)
for name in activations.split():
    function = getattr(F, name)
    for numbers in ([0.0, -1.0, 1.0, nan], [3.0, -3.0, 0.5, -0.5]):
        print(name, function(torch.tensor(numbers)), gradients(function, numbers))
for name, function in {
    "threshold": lambda x: F.threshold(x, 0.5, 7.0),
    "elu": lambda x: F.elu(x, 0.5),
    "celu": lambda x: F.celu(x, 2.0),
    "clamp": lambda x: torch.clamp(x, 0.0, 1.0),
    "clamp_min": lambda x: torch.clamp(x, min=0.0),
    "relu in place": lambda x: F.relu(x * 1, inplace=True),
    "selu in place": lambda x: F.selu(x * 1, inplace=True),
    "abs": torch.abs,
    "sign": torch.sign,
    "sgn": torch.sgn,
}.items():
    numbers = [nan, 0.0, 1.0, -1.0, 0.5, 2.0]
    print(name, function(torch.tensor(numbers)), gradients(function, numbers))
print(F.prelu(torch.tensor([nan, 0.0, -1.0]), torch.tensor([0.3])), gradients(F.prelu, [nan, 0.0, -1.0], [0.3]))
print(torch.heaviside(torch.tensor([nan, 0.0, -1.0, 1.0]), torch.tensor(0.5)))

table = torch.tensor([[1.0, nan, 3.0], [2.0, 1.0, 3.0], [nan, nan, nan], [1.0, inf, -inf], [nan, 2.0, nan]])
for name in [
    "sum",
    "mean",
    "prod",
    "var",
    "std",
    "norm",
    "nansum",
    "nanmean",
    "logsumexp",
    "cumsum",
    "cumprod",
    "logcumsumexp",
    "cummax",
    "cummin",
    "sort",
    "argsort",
    "argmax",
    "argmin",
]:
    print(name, getattr(torch, name)(table, dim=1))
for name in [
    "sum",
    "mean",
    "prod",
    "var",
    "std",
    "norm",
    "nansum",
    "nanmean",
    "argmax",
    "argmin",
    "any",
    "all",
    "count_nonzero",
    "unique",
]:
    for numbers in ([1.0, nan, 3.0], [nan, nan], [0.0, 4.0]):
        print(name, getattr(torch, name)(torch.tensor(numbers)))
print(torch.topk(torch.tensor([1.0, nan, 3.0]), 2), torch.topk(torch.tensor([1.0, nan, 3.0]), 2, largest=False))
print(torch.kthvalue(torch.tensor([1.0, nan, 3.0]), 2), torch.sort(torch.tensor([1.0, nan, 3.0]), descending=True))
print(torch.mode(torch.tensor([1.0, 2.0, 2.0, nan])))

small = torch.tensor([[1, 2]], dtype=torch.int8)
print(F.cosine_similarity(small, torch.tensor([[1.0, 3.0]])), F.pairwise_distance(small, torch.tensor([[1.0, 3.0]])))
print(F.cosine_similarity(torch.tensor([[100, 100]], dtype=torch.int8), torch.tensor([[1.0, 3.0]])))
print(F.cosine_embedding_loss(small, torch.tensor([[1.0, 3.0]]), torch.tensor([1])))
print(F.triplet_margin_loss(small, torch.tensor([[1.0, 3.0]]), torch.tensor([[2.0, 5.0]], dtype=torch.float64)))
try:
    F.cosine_similarity(torch.tensor([[1, 2]]), torch.tensor([[1, 3]]))
except RuntimeError as error:
    print(type(error).__name__)
print(F.cosine_similarity(torch.zeros(1, 2, dtype=torch.float64), torch.ones(1, 2)).dtype)

even = torch.zeros(5, 2, 4).log_softmax(2)
labels = torch.tensor([[1, 2], [1, 2]])
print(F.ctc_loss(even, labels[:, :0], torch.tensor([5, 0]), torch.tensor([0, 0]), reduction="none"))
print(F.ctc_loss(even, labels, torch.tensor([0, 5]), torch.tensor([0, 2]), reduction="none"))
print(F.ctc_loss(even, labels, torch.tensor([0, 5]), torch.tensor([1, 2]), reduction="none"))
print(F.ctc_loss(even, labels, torch.tensor([0, 5]), torch.tensor([1, 2]), zero_infinity=True))
print(F.ctc_loss(even, labels, torch.tensor([0, 5]), torch.tensor([0, 2])))
scores = torch.zeros(5, 2, 4, requires_grad=True)
F.ctc_loss(scores.log_softmax(2), labels, torch.tensor([0, 5]), torch.tensor([0, 2])).backward()
print(scores.grad[:, 0].abs().sum(), scores.grad[0, 1])
try:
    F.ctc_loss(torch.zeros(0, 2, 4), labels, torch.tensor([0, 0]), torch.tensor([0, 2]))
except RuntimeError as error:
    print(type(error).__name__)

x = torch.zeros(1, dtype=torch.int32)
print(x.new(torch.Size([2, 3])).shape, x.new([2, 3]), x.new(2, 3).shape, x.new().shape, x.new(2, 3).dtype)
print(torch.Tensor(torch.Size([2, 3])).shape, torch.Tensor([2, 3]))
