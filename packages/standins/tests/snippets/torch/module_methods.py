"""Methods of modules: what they hold, their state, hooks around it, names that clash, and what they refuse."""

import contextlib
import copy

import torch
from torch import nn


def attempt(name, function):
    try:
        print(name, function())
    except Exception as error:
        print(name, type(error).__name__)


class N(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(1, 1)
        s.b = s.a
        s.c = nn.Sequential(s.a, nn.ReLU())
        s.register_buffer("u", torch.zeros(1), persistent=False)
        s.register_buffer("v", torch.zeros(1))
        s.w = nn.Parameter(torch.ones(1))
        s.x = s.w


n = N()
attempt(1, lambda: [k for k, _ in n.named_parameters()])
attempt(2, lambda: [k for k, _ in n.named_parameters(remove_duplicate=False)])
attempt(3, lambda: [k for k, _ in n.named_modules()])
attempt(4, lambda: [k for k, _ in n.named_modules(remove_duplicate=False)])
attempt(5, lambda: [k for k, _ in n.named_children()])
attempt(6, lambda: [k for k, _ in n.named_buffers()])
attempt(7, lambda: list(n.state_dict()))
attempt(8, lambda: list(n.state_dict(prefix="p.")))
attempt(9, lambda: (lambda d: n.state_dict(destination=d) is d)({}))
attempt("9b", lambda: (lambda d: n.state_dict(d, "q.") is d)({}))
attempt(10, lambda: n.state_dict()._metadata)
attempt(11, lambda: n.load_state_dict({}, strict=False))
attempt(12, lambda: n.load_state_dict({}))
attempt(13, lambda: n.load_state_dict({"w": torch.ones(3)}, strict=False))
attempt(14, lambda: n.load_state_dict({"w": 3}, strict=False))


def h():
    m = nn.Linear(1, 1)
    log = []
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: log.append(("pre", prefix, keep)))
    m.register_state_dict_post_hook(lambda mod, sd, prefix, meta: sd.update({prefix + "extra": torch.ones(1)}))
    s = nn.Sequential(m)
    sd = s.state_dict()
    return list(sd), log


attempt(15, h)


def h2():
    m = nn.Linear(1, 1)
    log = []
    m.register_load_state_dict_pre_hook(
        lambda mod, sd, prefix, meta, strict, miss, unexp, err: (
            log.append((type(mod).__name__, prefix, strict)),
            sd.pop(prefix + "old", None),
        )
    )
    m.register_load_state_dict_post_hook(
        lambda mod, keys: log.append((type(mod).__name__, list(keys.missing_keys), list(keys.unexpected_keys)))
    )
    s = nn.Sequential(m)
    sd = s.state_dict()
    sd["0.old"] = torch.ones(1)
    r = s.load_state_dict(sd)
    return r, log, list(sd)


attempt(16, h2)


def h3():
    m = nn.Linear(1, 1)
    m.register_load_state_dict_post_hook(lambda mod, keys: keys.missing_keys.clear())
    return m.load_state_dict({"weight": torch.ones(1, 1)})


attempt(17, h3)


def as_():
    m = nn.Linear(1, 1)
    w = torch.full((1, 1), 7.0)
    b = torch.zeros(1, dtype=torch.float64)
    r = m.load_state_dict({"weight": w, "bias": b}, assign=True)
    return r, m.weight, m.bias.dtype, type(m.weight).__name__, m.weight.requires_grad


attempt(18, as_)


class Renamed(nn.Linear):
    def _load_from_state_dict(s, sd, prefix, *a):
        sd[prefix + "weight"] = sd.pop(prefix + "w")
        super()._load_from_state_dict(sd, prefix, *a)

    def _save_to_state_dict(s, dest, prefix, keep):
        super()._save_to_state_dict(dest, prefix, keep)
        dest[prefix + "w"] = dest.pop(prefix + "weight")


def ov():
    m = nn.Sequential(Renamed(1, 1))
    sd = m.state_dict()
    k = list(sd)
    k2 = nn.Sequential(Renamed(1, 1))
    r = k2.load_state_dict(sd)
    return k, r, torch.equal(k2[0].weight, m[0].weight)


attempt(19, ov)
attempt(20, lambda: n.get_submodule("c.0"))
attempt(21, lambda: n.get_submodule("c.z"))
attempt(22, lambda: n.get_parameter("a.weight").shape)
attempt(23, lambda: n.get_parameter("v"))
attempt(24, lambda: n.get_parameter("a.z"))
attempt(25, lambda: n.get_buffer("v"))
attempt(26, lambda: n.get_buffer("w"))
attempt(27, lambda: n.get_submodule("w"))
attempt(28, lambda: n.set_submodule("c.1", nn.Tanh()) or n.c)
attempt(29, lambda: n.set_submodule("c.7", nn.Tanh()) or n.c)
attempt("29b", lambda: n.set_submodule("c.7", nn.Tanh(), strict=True) or n.c)
attempt("29c", lambda: n.set_submodule("", nn.Tanh()))
attempt(30, lambda: n.apply(lambda m: None) is n)


def ap():
    o = []
    n.apply(lambda m: o.append(type(m).__name__))
    return o


attempt(31, ap)
attempt(32, lambda: n.train("x"))
attempt(33, lambda: n.train(False).training)
attempt(34, lambda: n.to("cpu") is n)
attempt(35, lambda: n.to(torch.int32))
attempt(36, lambda: n.to(torch.float64).w.dtype)
attempt(37, lambda: n.half().w.dtype)
attempt(38, lambda: n.float().w.dtype)
attempt(39, lambda: n.type(torch.float64).w.dtype)
attempt(40, lambda: n.double().v.dtype)
attempt(41, lambda: n.float() and n.to_empty(device="cpu").w.shape)
attempt(42, lambda: n.share_memory() is n)
attempt(43, lambda: n.requires_grad_(False).w.requires_grad)
attempt(44, lambda: [k for k in dir(n) if k in ("a", "w", "v", "u", "0")])
attempt(45, lambda: n.nothing)
attempt(46, lambda: n.extra_repr())


def zg():
    m = nn.Linear(1, 1)
    m(torch.ones(1, 1)).sum().backward()
    m.zero_grad(set_to_none=False)
    a = m.weight.grad
    m.zero_grad()
    return a, m.weight.grad


attempt(47, zg)
attempt(48, lambda: nn.Module()(1))


class NoInit(nn.Module):
    def __init__(s):
        s.x = nn.ReLU()


attempt(49, NoInit)


class NoInit2(nn.Module):
    def __init__(s):
        s.x = 3


attempt(50, lambda: NoInit2()(1))


def dc():
    m = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    c = copy.deepcopy(m)
    return torch.equal(c[0].weight, m[0].weight), c[0].weight is m[0].weight, c


attempt(51, dc)
attempt(52, lambda: nn.Module(3))
attempt(53, lambda: nn.Module(a=3))


class K(nn.Module):
    def __init__(s, **k):
        super().__init__(**k)


attempt(54, lambda: K(a=1))


def fh():
    m = nn.Linear(1, 1)
    log = []
    h = m.register_forward_hook(lambda mod, i, o: log.append("h1"))
    m.register_forward_hook(lambda mod, i, o: log.append("h2"), prepend=True)
    m.register_forward_hook(lambda mod, i, k, o: log.append(("kw", k)), with_kwargs=True)
    m.register_forward_pre_hook(lambda mod, i, k: log.append(("pre", k)), with_kwargs=True)
    m(input=torch.ones(1, 1))
    h.remove()
    m(torch.ones(1, 1))
    return log


attempt(55, fh)


def fh2():
    class B(nn.Module):
        def forward(s, x):
            raise ValueError("no")

    m = B()
    log = []
    m.register_forward_hook(lambda mod, i, o: log.append(o), always_call=True)
    with contextlib.suppress(ValueError):
        m(1)
    return log


attempt(56, fh2)
attempt(58, lambda: setattr(n, "w", None) or n.w)
attempt(59, lambda: setattr(n, "newt", torch.ones(1)) or "newt" in n.state_dict())
attempt(60, lambda: (setattr(n, "v", torch.ones(2)), n.v, "v" in n.state_dict())[1:])
attempt(61, lambda: delattr(n, "v") or list(n.state_dict()))
attempt(62, lambda: nn.Linear(1, 1) == nn.Linear(1, 1))
attempt(63, lambda: len({nn.Linear(1, 1), nn.Linear(1, 1)}))
attempt(65, lambda: nn.Sequential(nn.ReLU()).named_modules().__next__()[0])
attempt(66, lambda: [k for k, _ in n.named_modules(prefix="zz")])
attempt(67, lambda: [k for k, _ in n.named_parameters(prefix="zz", recurse=False)])
attempt(68, lambda: nn.BatchNorm1d(2).state_dict().keys())
attempt(
    69,
    lambda: nn.BatchNorm1d(2).load_state_dict(
        {"weight": torch.ones(2), "bias": torch.ones(2), "running_mean": torch.ones(2), "running_var": torch.ones(2)}
    ),
)
attempt(71, lambda: nn.Linear(1, 1).load_state_dict(3))
attempt(
    72, lambda: nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1, requires_grad=True), "bias": torch.ones(1)})
)
attempt(73, lambda: nn.Linear(1, 1).load_state_dict({"weight": torch.ones(()), "bias": torch.ones(1)}))
attempt(74, lambda: nn.Embedding(1, 1).load_state_dict({"weight": torch.ones(1)}))


class Ex(nn.Module):
    def __init__(s):
        super().__init__()
        s.k = 3
        s.l = nn.Linear(1, 1)

    def get_extra_state(s):
        return {"k": s.k}

    def set_extra_state(s, st):
        s.k = st["k"]


def ex():
    m = Ex()
    m.k = 7
    sd = m.state_dict()
    n = Ex()
    r = n.load_state_dict(sd)
    return list(sd), n.k, r


attempt("extra", ex)
attempt("extra2", lambda: Ex().load_state_dict(nn.Sequential().state_dict()))
attempt(
    "extra3",
    lambda: nn.Linear(1, 1).load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1), "_extra_state": 3}),
)


def ch():
    layer = nn.Linear(1, 1)
    s = nn.Sequential(layer, nn.ReLU(), layer)
    return (
        len(list(s.children())),
        [n for n, _ in s.named_children()],
        len(list(s.modules())),
        len(list(s.parameters())),
    )


attempt("children", ch)


attempt("am1", lambda: (lambda m: m.add_module("weight", nn.ReLU()))(nn.Linear(1, 1)))
attempt("am2", lambda: (lambda m: m.add_module("forward", nn.ReLU()))(nn.Linear(1, 1)))
attempt("am3", lambda: (lambda m: m.add_module("a.b", nn.ReLU()))(nn.Linear(1, 1)))
attempt("am4", lambda: (lambda m: m.add_module(3, nn.ReLU()))(nn.Linear(1, 1)))
attempt("am5", lambda: (lambda m: m.add_module("", nn.ReLU()))(nn.Linear(1, 1)))
attempt("am6", lambda: (lambda m: m.add_module("0", nn.Tanh()) or m)(nn.Sequential(nn.ReLU())))
attempt("rp1", lambda: (lambda m: m.register_parameter("forward", None))(nn.Linear(1, 1)))
attempt("rp2", lambda: (lambda m: m.register_parameter("in_features", None))(nn.Linear(1, 1)))
attempt("rp3", lambda: (lambda m: m.register_parameter("x", torch.ones(1)))(nn.Linear(1, 1)))
attempt(
    "rp4",
    lambda: (lambda m: m.register_parameter("x", nn.Parameter(torch.ones(1) * nn.Parameter(torch.ones(1)))))(
        nn.Linear(1, 1)
    ),
)
attempt("rp5", lambda: (lambda m: m.register_parameter("a.b", None))(nn.Linear(1, 1)))
attempt(
    "rp6", lambda: (lambda m: m.register_parameter("weight", None) or list(dict(m.named_parameters())))(nn.Linear(1, 1))
)
attempt("rb1", lambda: (lambda m: m.register_buffer("weight", None))(nn.Linear(1, 1)))
attempt("rb2", lambda: (lambda m: m.register_buffer("x", 3))(nn.Linear(1, 1)))
attempt("rb3", lambda: (lambda m: m.register_buffer(3, None))(nn.Linear(1, 1)))
attempt("rb4", lambda: (lambda m: m.register_buffer("in_features", torch.ones(1)))(nn.Linear(1, 1)))


def sa():
    m = nn.Linear(1, 1)
    m.weight = torch.ones(1, 1)


attempt("sa", sa)


def sb():
    m = nn.Sequential(nn.ReLU())
    setattr(m, "0", 3)


attempt("sb", sb)


def sc_():
    m = nn.BatchNorm1d(1)
    m.running_mean = 3


attempt("sc_", sc_)
attempt("dm", lambda: delattr(nn.Linear(1, 1), "foo"))
