# cause: shape
# old: f32[2,3,24,24]
# new: f32[2,3,32,32]
# reason: the model is evaluated at a finer resolution, with its positions interpolated

import torch
import torch_xla
from transformers import ViTConfig, ViTModel

device = torch_xla.device()
torch.manual_seed(0)
config = ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                   image_size=16, patch_size=8, hidden_dropout_prob=0.0,
                   attention_probs_dropout_prob=0.0, attn_implementation="eager")
model = ViTModel(config, add_pooling_layer=False).to(device).eval()
torch_xla.sync()


def features(size):
    pictures = torch.rand(2, 3, size, size).to(device)  # <- cause
    with torch.no_grad():
        states = model(pictures, interpolate_pos_encoding=True).last_hidden_state  # <- cut
    torch_xla.sync()  # <- call
    return states.cpu()[:, 0]


for size in (24, 24, 32):
    print(size, features(size).mean().item())
