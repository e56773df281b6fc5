# cause: constant
# subject: options['momentum']
# old: 0.9
# new: 0.95

import jax
import numpy as np
import trainer

params = {"w": np.ones((4, 2), np.float32)}
for momentum in (0.9, 0.95):
    step = trainer.build({"optimizer": {"momentum": momentum}})
    step(params, params, np.ones((8, 4), np.float32))  # <- call
