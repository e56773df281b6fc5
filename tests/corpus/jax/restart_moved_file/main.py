# cause: none
# run: before
# run: after

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / sys.argv[1]))
import model  # noqa: E402

model.run()
