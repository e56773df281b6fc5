# cause: structure
# subject: sine
# old: tanh
# new: sine
# run: before
# run: after

import importlib
import sys

importlib.import_module(sys.argv[1]).run()
