# cause: dtype
# old: f32[2,3,16,16]
# new: f64[2,3,16,16]
# advice: convert | loader | float32
# reason: NumPy divides bytes in double precision, the other source has floats already

import numpy as np
import torch
import torch_xla
from transformers import ViTConfig, ViTForImageClassification

device = torch_xla.device()
torch.manual_seed(0)
dice = np.random.default_rng(0)
config = ViTConfig(image_size=16, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                   intermediate_size=32, num_labels=3)
model = ViTForImageClassification(config).to(device).eval()
torch_xla.sync()


def rendered():
    return dice.random((2, 3, 16, 16), dtype=np.float32)


def photographed():
    return dice.integers(256, size=(2, 3, 16, 16)) / 255


with torch.no_grad():
    for source in (rendered, rendered, photographed):
        pictures = torch.from_numpy(source()).to(device)  # <- cause
        best = model(pictures).logits.argmax(-1)
        torch_xla.sync()  # <- call
        print(best.tolist())
