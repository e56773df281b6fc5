"""What the pairs of advice_programs.py and advice_training.py share."""

import sys

import torch
import torch_xla

DEVICE = torch_xla.device()


def settle():
    torch_xla.sync()


def made(*shape):
    value = torch.randn(*shape).to(DEVICE)
    settle()
    return value


def run(functions):
    """Runs the functions that the command line names. Each has another width, `W`, so that none finds
    the programs of another."""
    for name in sys.argv[1:]:
        functions[name]()
        settle()
        functions["W"] += 1
