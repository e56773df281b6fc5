# cause: size
# advice: size= | fixed k | mask
# reason: as many boxes are kept as the host counted above the threshold, in each picture another number

import functools

import jax
import jax.numpy as jnp
import numpy as np

THRESHOLD = 0.6


@jax.jit
def detect(weights, picture):
    features = jnp.tanh(picture @ weights["features"])
    scores = jax.nn.sigmoid(features @ weights["score"])[:, 0]
    boxes = jax.nn.softplus(features @ weights["box"])
    return scores, boxes


@functools.partial(jax.jit, static_argnums=2)
def best_boxes(scores, boxes, count):
    kept, places = jax.lax.top_k(scores, count)  # <- cause
    corners = boxes[places]
    area = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    return corners, kept, jnp.abs(area)


class Detector:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.weights = {
            "features": rng.normal(size=(6, 12)).astype(np.float32),
            "score": rng.normal(size=(12, 1)).astype(np.float32),
            "box": rng.normal(size=(12, 4)).astype(np.float32),
        }

    def __call__(self, picture):
        scores, boxes = detect(self.weights, picture)
        count = int((np.asarray(scores) > THRESHOLD).sum())
        return best_boxes(scores, boxes, count)  # <- call


def pictures():
    rng = np.random.default_rng(12)
    for _ in range(2):
        yield rng.normal(size=(48, 6)).astype(np.float32)


detector = Detector(4)
for picture in pictures():
    corners, kept, area = detector(picture)
    print(len(kept), float(area.max()))
