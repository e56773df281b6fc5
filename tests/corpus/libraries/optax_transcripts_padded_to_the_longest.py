# cause: shape
# subject: labels
# old: i32[2,3]
# new: i32[2,5]
# reason: speech is of one length, the transcripts are padded to the longest of their batch

import jax
import numpy as np
import optax


def collate(transcripts):
    longest = max(map(len, transcripts))
    labels = np.zeros((len(transcripts), longest), np.int32)
    paddings = np.ones((len(transcripts), longest), np.float32)
    for row, transcript in enumerate(transcripts):
        labels[row, :len(transcript)] = transcript
        paddings[row, :len(transcript)] = 0
    return labels, paddings


@jax.jit
def train_step(weights, frames, frame_paddings, labels, label_paddings):
    def loss_fn(weights):
        return optax.ctc_loss(frames @ weights, frame_paddings, labels, label_paddings).mean()

    return weights - 0.1 * jax.grad(loss_fn)(weights)


weights = np.ones((4, 6), np.float32)
frames, frame_paddings = np.ones((2, 8, 4), np.float32), np.zeros((2, 8), np.float32)
for transcripts in ([[1, 2, 3], [4]], [[2, 5], [1, 3, 2, 4, 1]]):
    weights = train_step(weights, frames, frame_paddings, *collate(transcripts))  # <- cause
