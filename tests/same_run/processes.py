"""Other processes: a child that is forked, one that is started, and one that falls through to the end of the script."""

import multiprocessing
import os
import sys

import numpy as np

import gradtape as gt


def slope(value):
    x = gt.Variable(float(value))
    with gt.GradientTape() as tape:
        y = np.tanh(x * 50.0)
    return float(tape.gradient(y, x))


if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, pool.map(slope, [0.0, 0.1]), flush=True)
    folder = os.path.dirname(os.path.abspath(__file__))
    os.chdir("/")
    print(slope(0.2), flush=True)
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        print("parent", os.waitstatus_to_exitcode(status), flush=True)
        sys.exit(4)
    print("child", slope(0.3), flush=True)
