# cause: none
# program: jit_train_step
# run: before
# run: after

import importlib
import sys

importlib.import_module(sys.argv[1])
