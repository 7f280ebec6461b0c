"""The ways in which a script ends: its argument names one."""

import atexit
import os
import sys

import numpy as np

import gradtape as gt

atexit.register(lambda: print("handler", getattr(sys, "last_type", None)))
x = gt.Variable(np.ones(3))


def fail():
    try:
        {}["missing"]
    except KeyError as error:
        error.add_note("a note")
        raise RuntimeError("an error of the script's own") from error


def clash():
    try:
        {}["missing"]
    except KeyError:
        x + np.ones(4)


class Odd(BaseException):
    """An error that is no Exception."""


def odd():
    raise Odd("odd")


def several():
    raise ExceptionGroup("group", [ValueError(1), TypeError(2)])


def stopped(code):
    def stop():
        sys.exit(code)

    return stop


def assertion():
    assert np.sum(x) == 4.0, "the sum"


def closed():
    print("closed")
    sys.stdout.flush()
    os._exit(9)


def refused():
    data = np.ones(3)
    with gt.GradientTape():
        y = np.sum(x * data)
        data[0] = y


def none():
    with gt.GradientTape() as tape:
        y = np.sum(gt.round(x))
    return tape.gradient(y, x) * 2.0


ENDINGS = {
    "fail": fail,
    "clash": clash,
    "odd": odd,
    "several": several,
    "assertion": assertion,
    "closed": closed,
    "refused": refused,
    "none": none,
    "3": stopped(3),
    "none_code": stopped(None),
    "-1": stopped(-1),
    "256": stopped(256),
    "text": stopped("a message"),
    "tuple": stopped((1, 2)),
    "true": stopped(True),
    "well": lambda: None,
}
print("before")
ENDINGS[sys.argv[1]]()
print("after")
