# cause: layout
# subject: result 0
# old: unset
# new: {0,1}

import jax
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding


def step(x):
    return x * 2.0 + 1.0


place = SingleDeviceSharding(jax.devices()[0])
x = np.ones((256, 512), np.float32)
for order in ((0, 1), (1, 0)):
    laid_out = Format(Layout(major_to_minor=order), place)
    jax.jit(step, out_shardings=laid_out)(x)  # <- cause
