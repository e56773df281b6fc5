# cause: first
# reason: two functions of one name in two files are two functions

import critic
import maker
import numpy as np

x = np.ones((8, 4), np.float32)
maker.step(np.ones((4, 4), np.float32), x)
critic.run(x)
