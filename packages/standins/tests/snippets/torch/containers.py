"""Every method of the containers of modules and parameters, and what they refuse."""

import operator
from collections import OrderedDict

import torch
from torch import nn


def attempt(name, function):
    try:
        print(name, function())
    except Exception as error:
        print(name, type(error).__name__)


R, T, S = nn.ReLU, nn.Tanh, nn.Sigmoid


def ml(f):
    def run():
        m = nn.ModuleList([R(), T()])
        return f(m), m

    return run


def iadd(m, o):
    m += o


attempt("ml1", ml(lambda m: iadd(m, [S()])))
attempt("ml2", ml(lambda m: operator.add(m, [S()])))
attempt("ml2b", ml(lambda m: m + nn.ModuleList([S()])))
attempt("ml3", ml(lambda m: m.pop(0)))
attempt("ml4", ml(lambda m: m.insert(1, S())))
attempt("ml5", ml(lambda m: m.extend(3)))
attempt("ml6", ml(lambda m: m.append(3)))
attempt("ml7", ml(lambda m: m[5]))
attempt("ml8", ml(lambda m: m[-1]))
attempt("ml9", ml(lambda m: m[0:1]))
attempt("ml10", ml(lambda m: m.__delitem__(slice(0, 1))))
attempt("ml11", ml(lambda m: m.__setitem__(0, S())))
attempt("ml12", ml(lambda m: m.__setitem__(0, 3)))
attempt("ml13", ml(lambda m: m(3)))
attempt("ml14", ml(lambda m: m.pop(slice(0, 1))))
attempt(
    "ml15",
    ml(
        lambda m: (
            m[0] in m,
            len(m),
            [type(x).__name__ for x in reversed(list(m))],
            [type(x).__name__ for x in reversed(m)],
        )
    ),
)
attempt("ml16", ml(lambda m: m.extend(iter([S()]))))
attempt("ml17", ml(lambda m: m.extend(nn.Sequential(S()))))
attempt("ml18", lambda: nn.ModuleList(x for x in [R(), R()]))
attempt("ml20", ml(lambda m: [n for n in dir(m) if n.isdigit()]))


def sq(f):
    def run():
        m = nn.Sequential(R(), T())
        return f(m), m

    return run


attempt("sq1", sq(lambda m: iadd(m, nn.Sequential(S()))))
attempt("sq2", sq(lambda m: m + nn.Sequential(S())))
attempt("sq3", sq(lambda m: operator.add(m, [S()])))
attempt("sq4", sq(lambda m: m * 2))
attempt("sq5", sq(lambda m: 2 * m))
attempt("sq6", sq(lambda m: m * 0))
attempt("sq7", sq(lambda m: m.pop(-1)))
attempt("sq8", sq(lambda m: m.pop(slice(0, 1))))
attempt("sq9", sq(lambda m: m.insert(1, S())))
attempt("sq10", sq(lambda m: m.insert(5, S())))
attempt("sq11", sq(lambda m: m.extend([S()])))
attempt("sq12", sq(lambda m: m.append(3)))
attempt("sq13", sq(lambda m: m[0:1]))
attempt("sq14", sq(lambda m: m.__delitem__(slice(0, 1))))
attempt("sq15", sq(lambda m: m.__delitem__(0)))


def imul(m, k):
    m *= k


attempt("sq16", sq(lambda m: imul(m, 2)))
attempt("sq17", sq(lambda m: m * "a"))
attempt("sq18", lambda: nn.Sequential({"a": R()}))
attempt("sq19", lambda: nn.Sequential(OrderedDict(a=R(), b=T()))[0:1])
attempt("sq20", lambda: (lambda m: m.__delitem__(0) or m)(nn.Sequential(OrderedDict(a=R(), b=T()))))
attempt("sq21", lambda: nn.Sequential(R()).__setitem__(4, R()))
attempt("sq22", lambda: nn.Sequential([R()]))
attempt("sq23", sq(lambda m: m.insert("a", S())))
attempt("sq24", sq(lambda m: m.insert(1, 3)))
attempt("sq25", lambda: nn.Sequential(OrderedDict(a=R(), b=T())).append(S()))
attempt("sq26", lambda: iadd(nn.Sequential(R()), [S()]))
attempt("sq27", lambda: nn.Sequential(R(), R()).append(nn.Sequential(T())))


def md(f):
    def run():
        m = nn.ModuleDict({"a": R(), "b": T()})
        return f(m), m

    return run


attempt("md1", md(lambda m: m.pop("a")))
attempt("md2", md(lambda m: m.pop("z")))
attempt("md3", md(lambda m: m.clear()))
attempt("md4", md(lambda m: m.update({"c": S(), "a": S()})))
attempt("md5", md(lambda m: m.update([("c", S())])))
attempt("md6", md(lambda m: m.update(3)))
attempt("md7", md(lambda m: m.update([3])))
attempt("md8", md(lambda m: (list(m.keys()), list(m.items()), list(m.values()), "a" in m, len(m), list(m))))
attempt("md9", md(lambda m: m.__setitem__("x.y", R())))
attempt("md10", md(lambda m: m.__setitem__("pop", R())))
attempt("md11", md(lambda m: m.__delitem__("a")))
attempt("md12", md(lambda m: m | {"c": R()}))
attempt("md13", md(lambda m: m.get("a")))
attempt("md14", md(lambda m: m.a))
attempt("md15", md(lambda m: m.update(nn.ModuleDict({"q": R()}))))
attempt("md16", md(lambda m: m["z"]))
attempt("md17", md(lambda m: m.popitem()))
attempt("md18", md(lambda m: list(reversed(m))))
attempt("md19", md(lambda m: m.setdefault("c", R())))
attempt("md20", md(lambda m: m.update([("a", R(), 3)])))


def P(*shape):
    return nn.Parameter(torch.zeros(*shape))


def pl(f):
    def run():
        m = nn.ParameterList([P(2), P(3)])
        return f(m), m

    return run


attempt("pl1", pl(lambda m: iadd(m, [P(1)])))
attempt("pl2", pl(lambda m: operator.add(m, [P(1)])))
attempt("pl3", pl(lambda m: m.extend([P(1)])))
attempt("pl4", pl(lambda m: m.extend(P(1))))
attempt("pl5", pl(lambda m: m.append(torch.zeros(1))))
attempt("pl6", pl(lambda m: m.append(3)))
attempt("pl7", pl(lambda m: m.pop(0)))
attempt("pl8", pl(lambda m: m[0:1]))
attempt("pl9", pl(lambda m: m[-1]))
attempt("pl10", pl(lambda m: m[7]))
attempt("pl11", pl(lambda m: m.__setitem__(0, P(5))))
attempt("pl12", pl(lambda m: m.__setitem__(0, torch.zeros(5))))
attempt("pl13", pl(lambda m: (len(m), [tuple(p.shape) for p in m], [n for n, _ in m.named_parameters()])))
attempt("pl14", pl(lambda m: m()))
attempt("pl15", pl(lambda m: m.insert(0, P(1))))
attempt("pl16", lambda: nn.ParameterList(P(i + 1) for i in range(2)))
attempt("pl17", lambda: nn.ParameterList([torch.zeros(1), "a", None]))
attempt("pl18", pl(lambda m: m.__delitem__(0)))
attempt("pl19", pl(lambda m: m.extend(nn.ParameterList([P(1)]))))
attempt("pl20", pl(lambda m: iadd(m, 3)))
attempt("pl21", pl(lambda m: nn.ParameterList(m)))
attempt("pl22", pl(lambda m: list(m.state_dict())))


def pd(f):
    def run():
        m = nn.ParameterDict({"a": P(2), "b": P(3)})
        return f(m), m

    return run


attempt("pd1", pd(lambda m: m.pop("a")))
attempt("pd2", pd(lambda m: m.pop("z")))
attempt("pd3", pd(lambda m: m.popitem()))
attempt("pd4", pd(lambda m: m.clear()))
attempt("pd5", pd(lambda m: m.get("a")))
attempt("pd6", pd(lambda m: m.get("z", 7)))
attempt("pd7", pd(lambda m: m.setdefault("c", P(1))))
attempt("pd8", pd(lambda m: m.setdefault("a", P(1))))
attempt("pd9", pd(lambda m: m.copy()))
attempt("pd10", pd(lambda m: m.fromkeys(["q", "r"], torch.zeros(1))))
attempt("pd11", pd(lambda m: m.update({"c": P(1)})))
attempt("pd12", pd(lambda m: m.update([("c", P(1))])))
attempt("pd13", pd(lambda m: m | nn.ParameterDict({"c": P(1)})))


def ior(m, o):
    m |= o


attempt("pd14", pd(lambda m: ior(m, nn.ParameterDict({"c": P(1)}))))
attempt("pd15", pd(lambda m: (list(m.keys()), list(m), len(m), "a" in m, [tuple(v.shape) for v in m.values()])))
attempt("pd16", pd(lambda m: list(reversed(m))))
attempt("pd17", pd(lambda m: m.__delitem__("a")))
attempt("pd18", pd(lambda m: m.__setitem__("c", torch.zeros(1))))
attempt("pd19", pd(lambda m: m.__setitem__("c", 3)))
attempt("pd20", pd(lambda m: m.a))
attempt("pd21", pd(lambda m: m()))
attempt("pd22", lambda: nn.ParameterDict([("x", P(1))]))
attempt("pd23", pd(lambda m: m["z"]))
attempt("pd24", pd(lambda m: m | {"c": P(1)}))
attempt("pd25", pd(lambda m: m.update(3)))
attempt("pd26", pd(lambda m: m.__setitem__("x.y", P(1))))
attempt("pd27", pd(lambda m: nn.ParameterDict(m)))
