"""The stand-in for PyTorch: tensors, gradients, errors."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import gradtape as gt
import gradtape_standins.torch as torch


def test_functions_and_methods_are_gradtape_underneath() -> None:
    """A tensor holds a gradtape tensor, and its gradient is the one that gradtape leaves there."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert isinstance(x._value, gt.Tensor)
    assert x._value.grad.numpy().tolist() == x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (torch.int64, 1.5, torch.float32),
        (torch.int32, 2, torch.int32),
        (torch.float64, 2.5, torch.float64),
        (torch.float16, torch.float32, torch.float32),
        (torch.uint8, torch.int8, torch.int16),
        (torch.int64, torch.float32, torch.float32),
        (torch.bool, 3, torch.int64),
        (torch.float32, 1j, torch.complex64),
        (torch.complex64, torch.float64, torch.complex128),
    ],
)
def test_promotion_goes_by_category(left: object, right: object, expected: object) -> None:
    """The type of a sum is the one that PyTorch has for it."""
    other = torch.ones(2, dtype=right) if isinstance(right, torch.dtype) else right
    assert (torch.ones(2, dtype=left) + other).dtype is expected


def test_tensor_without_axes_gives_way() -> None:
    """A double without axes does not make doubles of single precision numbers with axes."""
    assert (torch.ones(2) * torch.tensor(2.0, dtype=torch.float64)).dtype is torch.float32
    assert (torch.tensor(1.0) * torch.tensor(2.0, dtype=torch.float64)).dtype is torch.float64


def test_integer_division_gives_floats() -> None:
    """`/` of integers is in the default type, `//` stays with integers and rounds down."""
    numbers = torch.tensor([-7, 7])
    assert repr(numbers / 2) == "tensor([-3.5000,  3.5000])"
    assert repr(numbers // 2) == "tensor([-4,  3])"
    assert repr(torch.div(numbers, 2, rounding_mode="trunc")) == "tensor([-3,  3])"


# -- writing in place


def test_write_reaches_every_view() -> None:
    """A write to a tensor or to a view of it is seen by all tensors that share the numbers."""
    base = torch.zeros(2, 3)
    row, flat, turned = base[1], base.view(-1), base.t()
    row += 1
    flat[0] = 5.0
    turned[2, 0] = -1.0
    assert base.tolist() == [[5.0, 0.0, -1.0], [1.0, 1.0, 1.0]]
    assert row.tolist() == [1.0, 1.0, 1.0]
    assert turned.tolist() == [[5.0, 1.0], [0.0, 1.0], [-1.0, 1.0]]


def test_view_of_a_view_writes_to_the_tensor() -> None:
    """Views compose."""
    base = torch.arange(12.0).reshape(3, 4)
    base[1:].t()[0].zero_()
    assert base[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_gradient_passes_writes_to_views() -> None:
    """What is written through a view is differentiated like any other operation."""
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = w * 1
    y[1:].mul_(10.0)
    (y**2).sum().backward()
    assert w.grad.tolist() == [2.0, 400.0, 600.0]


def test_view_taken_before_a_write_is_on_the_graph_of_it() -> None:
    """A view that was taken before its tensor was written to has the gradient of the new numbers."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    y = w * 1
    first = y[0]
    y.mul_(3.0)
    first.backward()
    assert w.grad.tolist() == [3.0, 0.0]


def test_update_without_recording_keeps_the_leaf() -> None:
    """A parameter that is updated under no_grad is the same leaf, with the same gradient."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    gradient = w.grad
    with torch.no_grad():
        w -= 0.5 * w.grad
    assert w.is_leaf
    assert w.requires_grad
    assert w.tolist() == [0.0, 0.0]
    assert w.grad is gradient


def test_leaf_cannot_be_written_to_while_recording() -> None:
    """Neither directly, nor by index, nor through a view; the message names the line."""
    x = torch.ones(3, requires_grad=True)
    for write in (lambda: x.add_(1), lambda: x.__setitem__(0, 2.0), lambda: x[1:].zero_(), lambda: x.fill_(3.0)):
        with pytest.raises(RuntimeError, match=r"leaf") as caught:
            write()
        assert "test_torch.py" in str(caught.value)
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_write_to_what_a_gradient_needs_is_refused_at_backward() -> None:
    """The error names the operation that saved the numbers and the line that overwrote them."""
    x = torch.ones(3, requires_grad=True)
    b = x * 2
    c = b**2
    b += 1
    with pytest.raises(RuntimeError, match="in-place") as caught:
        c.sum().backward()
    assert "c = b**2" in str(caught.value)
    assert "b += 1" in str(caught.value)


def test_write_to_what_no_gradient_needs_is_fine() -> None:
    """A sum does not need its operands, so they may be overwritten."""
    x = torch.ones(3, requires_grad=True)
    b = x * 2
    c = b.sum() + (b + 1).sum()
    b.mul_(5)
    c.backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_relu_in_place_is_fine() -> None:
    """The operation that writes may go on using the old numbers."""
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    torch.nn.functional.relu(x * 3, inplace=True).sum().backward()
    assert x.grad.tolist() == [0.0, 3.0]


def test_numpy_shares_its_numbers() -> None:
    """Writes to the tensor and to the array are seen by the other, in both directions."""
    t = torch.ones(3)
    array = t.numpy()
    t.add_(1)
    assert array.tolist() == [2.0, 2.0, 2.0]
    array[0] = 7.0
    assert t.tolist() == [7.0, 2.0, 2.0]
    source = np.zeros(2)
    u = torch.from_numpy(source)
    source += 3
    assert u.tolist() == [3.0, 3.0]
    u.mul_(2)
    assert source.tolist() == [6.0, 6.0]


def test_result_has_to_fit_in_place() -> None:
    """A float into integers, or a larger shape, is refused as PyTorch does, and nothing changes."""
    numbers = torch.tensor([1, 2])
    with pytest.raises(RuntimeError, match="int64"):
        numbers += 1.5
    with pytest.raises(RuntimeError, match="shape"):
        numbers += torch.ones(3, 2, dtype=torch.int64)
    assert numbers.tolist() == [1, 2]
    numbers[0] = 9.7
    assert numbers.tolist() == [9, 2]


def test_gradient_can_be_written_to() -> None:
    """`x.grad` is a tensor that stays: written to, kept, accumulated into, replaced."""
    x = torch.tensor([3.0], requires_grad=True)
    (x * 2).backward()
    gradient = x.grad
    gradient.mul_(10)
    assert x.grad.tolist() == [20.0]
    (x * 2).backward()
    assert gradient.tolist() == [22.0]
    x.grad = torch.tensor([1.0])
    (x * 2).backward()
    assert x.grad.tolist() == [3.0]
    x.grad = None
    assert x.grad is None
    assert gradient.tolist() == [22.0]
    with pytest.raises((RuntimeError, TypeError)):
        x.grad = torch.ones(2)


# -- errors


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda: torch.ones(3) + torch.ones(4), RuntimeError),
        (lambda: torch.ones(2, 3) @ torch.ones(2, 3), RuntimeError),
        (lambda: torch.ones(2) @ torch.ones(2, dtype=torch.float64), RuntimeError),
        (lambda: torch.ones(3).view(2, 2), RuntimeError),
        (lambda: torch.ones(3)[5], IndexError),
        (lambda: torch.ones(3).sum(dim=2), IndexError),
        (lambda: torch.ones(3).size(4), IndexError),
        (lambda: torch.tensor([1, 2]).mean(), RuntimeError),
        (lambda: torch.tensor([1, 2], requires_grad=True), RuntimeError),
        (lambda: torch.linalg.inv(torch.zeros(2, 2)), torch.linalg.LinAlgError),
        (lambda: torch.ones(2, requires_grad=True).numpy(), RuntimeError),
        (lambda: torch.ones(2, requires_grad=True).backward(), RuntimeError),
        (lambda: torch.ones(2).item(), RuntimeError),
        (lambda: bool(torch.ones(2)), RuntimeError),
        (lambda: len(torch.tensor(1.0)), TypeError),
        (lambda: torch.autograd.grad(torch.ones(()), torch.ones(())), RuntimeError),
        (lambda: torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 7])), IndexError),
        (lambda: torch.nn.functional.mse_loss(torch.ones(2), torch.ones(3)), RuntimeError),
        (lambda: torch.ones(2).to("cuda"), RuntimeError),
        (lambda: torch.tensor([True]) - torch.tensor([True]), RuntimeError),
        (lambda: torch.topk(torch.ones(2), 5), RuntimeError),
        (lambda: torch.ones(5).split([2, 2]), RuntimeError),
    ],
)
def test_errors_are_of_pytorchs_classes(wrong: object, kind: type[Exception]) -> None:
    """What PyTorch raises RuntimeError, IndexError or TypeError for raises it here."""
    with pytest.raises(kind):
        wrong()  # type: ignore[operator]


def test_message_names_the_users_line_and_pytorchs_names() -> None:
    """Frames of the stand-in are not the user's, and advice is given in names that can be typed."""
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError) as caught:
        (x * 2).backward()
    text = str(caught.value)
    assert "(x * 2).backward()" in text
    assert "standins" not in text
    assert "torch.func.jacrev" in text
    with pytest.raises(RuntimeError) as caught:
        torch.linalg.inv(torch.zeros(2, 2))
    assert "torch.linalg" in str(caught.value)
    assert "np." not in str(caught.value)


def test_graph_is_freed_and_can_be_kept() -> None:
    """A second backward needs retain_graph in the first."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_gradient_of_what_is_no_leaf_warns() -> None:
    """`.grad` of a computed tensor is None with a UserWarning, unless retain_grad was called."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    z = y * y
    z.backward()
    with pytest.warns(UserWarning, match="retain_grad"):
        assert y.grad is None
    kept = x * 3
    kept.retain_grad()
    (kept * kept).backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kept.grad.item() == 12.0


def test_target_of_another_size_warns() -> None:
    """A loss that stretches its target says so, as PyTorch does."""
    with pytest.warns(UserWarning, match="target size"):
        torch.nn.functional.mse_loss(torch.ones(3, 1), torch.ones(3))


def test_missing_names_say_what_is_near() -> None:
    """A name that the stand-in does not have: an AttributeError with the nearest that is there."""
    with pytest.raises(AttributeError, match=r"torch\.softmax"):
        _ = torch.sofmax
    with pytest.raises(AttributeError, match="NumPy has no bfloat16"):
        _ = torch.bfloat16
    with pytest.raises(AttributeError, match="unsqueeze"):
        torch.ones(2).unsqeeze(0)


def test_tensors_are_not_pickled() -> None:
    """pickle points at torch.save, whose files run no code when they are read."""
    with pytest.raises(RuntimeError, match=r"torch.save"):
        pickle.dumps(torch.ones(1))


# -- autograd


def test_next_functions_lead_to_the_leaves() -> None:
    """grad_fn knows what made its inputs, under PyTorch's names."""
    x = torch.tensor(2.0, requires_grad=True)
    y = (x * 3).sin().mean()
    names = []
    node = y.grad_fn
    while node.next_functions:
        names.append(type(node).__name__)
        node = next(parent for parent, _ in node.next_functions if parent is not None)
    assert names == ["MeanBackward0", "SinBackward0", "MulBackward0"]
    assert node.name() == "torch::autograd::AccumulateGrad"


def test_backward_can_be_limited_to_inputs() -> None:
    """`inputs` are the only leaves that get a gradient."""
    a, b = (torch.tensor(2.0, requires_grad=True) for _ in range(2))
    (a * b).backward(inputs=[a])
    assert a.grad.item() == 2.0
    assert b.grad is None


def test_batched_gradients() -> None:
    """is_grads_batched gives the gradients of each seed along a first axis."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (rows,) = torch.autograd.grad(x**2, x, torch.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert torch.autograd.grad((x * 2).sum(), [x], materialize_grads=True)[0].tolist() == [2.0, 2.0]


def test_function_errors_are_explained() -> None:
    """A rule that returns the wrong count or shape is blamed by name."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: object) -> object:
            return x * 2  # type: ignore[operator]

        @staticmethod
        def backward(ctx: object, g: object) -> object:
            return g.sum()  # type: ignore[attr-defined]

    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Wrong\.backward"):
        Wrong.apply(x).sum().backward()

    class Many(Wrong):
        @staticmethod
        def backward(ctx: object, g: object) -> object:
            return g, g

    with pytest.raises(RuntimeError, match="returned 2 gradients"):
        Many.apply(x).sum().backward()

    class Nothing(torch.autograd.Function):
        pass

    with pytest.raises(NotImplementedError, match="forward"):
        Nothing.apply(x)


def test_function_is_differentiated_twice_through_saved_tensors() -> None:
    """The second derivative goes through backward and what forward saved."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: object) -> object:
            ctx.save_for_backward(x)  # type: ignore[attr-defined]
            return x**3  # type: ignore[operator]

        @staticmethod
        def backward(ctx: object, g: object) -> object:
            (x,) = ctx.saved_tensors  # type: ignore[attr-defined]
            return 3 * x**2 * g

    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(Cube.apply, (x,))
    assert torch.autograd.functional.hessian(Cube.apply, x.detach()).item() == 12.0


def test_once_differentiable_cuts() -> None:
    """What a once_differentiable backward returns is off the graph."""
    from gradtape_standins.torch.autograd.function import once_differentiable

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: object) -> object:
            return x * 2  # type: ignore[operator]

        @staticmethod
        @once_differentiable
        def backward(ctx: object, g: object) -> object:
            return g * 2  # type: ignore[operator]

    x = torch.tensor(1.0, requires_grad=True)
    Double.apply(x).backward()
    assert x.grad.item() == 2.0


def test_gradcheck_finds_a_wrong_rule() -> None:
    """gradcheck raises, or returns False, where a rule is not the derivative."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: object) -> object:
            return x * 2  # type: ignore[operator]

        @staticmethod
        def backward(ctx: object, g: object) -> object:
            return g * 3  # type: ignore[operator]

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError):
        torch.autograd.gradcheck(Wrong.apply, (x,))
    assert not torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False)
    with pytest.raises(ValueError, match="requires_grad"):
        torch.autograd.gradcheck(torch.sin, (torch.ones(2, dtype=torch.float64),))


def test_vmap_and_in_place_meet() -> None:
    """Inside vmap tensors can be written in place, and views follow."""

    def one(row: object) -> object:
        out = torch.zeros(3)
        out = out + row
        out[0] = row.sum()  # type: ignore[attr-defined]
        out[1:].mul_(2)
        return out

    result = torch.func.vmap(one)(torch.ones(2, 3))
    assert result.tolist() == [[3.0, 2.0, 2.0]] * 2


def test_random_numbers_follow_the_seed() -> None:
    """The same seed gives the same numbers, of the asked kind."""
    torch.manual_seed(3)
    first = [torch.rand(3), torch.randn(2, 2), torch.randint(0, 5, (4,)), torch.randperm(6)]
    torch.manual_seed(3)
    second = [torch.rand(3), torch.randn(2, 2), torch.randint(0, 5, (4,)), torch.randperm(6)]
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert [t.dtype for t in first] == [torch.float32, torch.float32, torch.int64, torch.int64]
    assert sorted(first[3].tolist()) == list(range(6))
    with torch.random.fork_rng():
        torch.rand(5)
    a = torch.rand(1)
    torch.set_rng_state(torch.get_rng_state())
    assert 0 <= a.item() < 1


def test_copies_are_apart() -> None:
    """deepcopy and clone do not share numbers; a computed tensor cannot be deep-copied."""
    x = torch.ones(2, requires_grad=True)
    other = copy.deepcopy(x)
    with torch.no_grad():
        other.add_(1)
    assert x.tolist() == [1.0, 1.0]
    assert other.requires_grad
    with pytest.raises(RuntimeError):
        copy.deepcopy(x * 2)


def test_numpys_names_of_arguments_are_taken() -> None:
    """`axis` and `keepdims` are `dim` and `keepdim`, as in PyTorch."""
    t = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(t.sum(axis=0, keepdims=True), t.sum(dim=0, keepdim=True))


def test_devices_that_are_not_there_can_be_asked_for() -> None:
    """A script that chooses a device finds the CPU, and its switches change nothing."""
    assert not torch.cuda.is_available()
    assert not torch.backends.mps.is_available()
    torch.backends.cudnn.deterministic = True
    assert torch.ones(2).to(torch.device("cpu")).device == torch.device("cpu")


def test_write_through_detach_is_noticed_and_through_data_is_not() -> None:
    """As PyTorch's version counters have it; through `.data`, the gradient is still that of the old numbers."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.detach().zero_()
    with pytest.raises(RuntimeError, match="in-place"):
        y.backward()
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data.zero_()
    y.backward()
    assert x.tolist() == [0.0, 0.0]
    assert x.grad.tolist() == [2.0, 4.0]


def test_views_know_how_pytorch_lays_them_out() -> None:
    """A view of what does not lie in order is refused, by the name that PyTorch's error has; reshape copies."""
    x = torch.arange(6.0).reshape(2, 3).t()
    assert (x.is_contiguous(), x.stride(), x[1:].storage_offset()) == (False, (1, 3), 1)
    with pytest.raises(RuntimeError, match="without a copy") as caught:
        x.view(6)
    assert type(caught.value).__name__ == "RuntimeError"
    assert x.contiguous().view(6).tolist() == x.reshape(6).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
