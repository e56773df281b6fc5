# cause: stable
# reason: the settings of each step are made anew, but are equal; the rate is an array

import numpy as np

from settings import for_epoch
from trainer import Trainer

x = np.ones((4, 3), np.float32)
trainer = Trainer(np.ones(3, np.float32))
for epoch in range(3):
    rate, settings = for_epoch(epoch)
    for _ in range(2):
        trainer.step(x, rate, settings)
print(trainer.history)
