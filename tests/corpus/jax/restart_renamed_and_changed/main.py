# cause: constant
# program: jit_train_step
# subject: multiply
# old: 0.5
# new: 0.25
# run: before
# run: after

import importlib
import sys

importlib.import_module(sys.argv[1])
