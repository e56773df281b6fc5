"""Small workloads in PyTorch. Prints one line of JSON: the numbers of each, as hexadecimal floats.

    workloads.py xla  MODULE...   the workloads of these modules on PyTorch/XLA's device
    workloads.py spmd MODULE...   the same with a process over four devices
    workloads.py cpu  MODULE...   the same on the CPU, without PyTorch/XLA

A workload that fails has the text of its error in place of its numbers.
"""

import importlib
import json
import sys

import common  # noqa: F401  loads PyTorch/XLA first


def result(workload):
    try:
        return [float(value).hex() for value in workload()]
    except Exception as error:  # whatever PyTorch raises, the other workloads are run as well
        return f"{type(error).__name__}: {error}"


print(json.dumps({f"{name}.{workload.__name__}": result(workload)
                  for name in sys.argv[2:]
                  for workload in importlib.import_module(name).WORKLOADS}))
