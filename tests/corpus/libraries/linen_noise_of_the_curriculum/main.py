# cause: constant
# subject: self.stage.noise
# old: 0.5
# new: 0.25
# reason: the strength of the augmentation is a field of the stage, which the step closes over

import jax
import numpy as np

from stages import STAGES
from trainer import Trainer, init

x = np.ones((4, 6), np.float32)
params = init(jax.random.key(0), x)
for stage in STAGES:
    params = Trainer(stage).fit(params, x)
