# cause: dtype
# subject: images
# old: f32[2,16]
# new: u8[2,16]
# advice: where the data is made | astype | asarray

import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(16, 2, rngs=rngs)

    def __call__(self, images):
        return self.layer(images / 255)


@nnx.jit
def predict(model, images):
    return model(images).argmax(-1)


model = Net(nnx.Rngs(0))
pictures = np.arange(32, dtype=np.uint8).reshape(2, 16)
predict(model, pictures.astype(np.float32))
predict(model, pictures)  # <- cause
