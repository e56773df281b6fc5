# cause: shape
# advice: torch.where
# reason: SpecAugment writes at a mask, whose places the host counts; what splits the step is the gradient of weight norm, which the host computes

import numpy as np
import torch
import torch_xla
from transformers import UniSpeechConfig, UniSpeechForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
np.random.seed(0)
config = UniSpeechConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                         conv_dim=(8, 8), conv_kernel=(10, 4), conv_stride=(5, 4), num_feat_extract_layers=2,
                         num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, hidden_dropout=0.0,
                         attention_dropout=0.0, activation_dropout=0.0, feat_proj_dropout=0.0, final_dropout=0.0,
                         layerdrop=0.0, mask_time_prob=0.3, mask_time_length=2, classifier_proj_size=8, num_labels=3)
model = UniSpeechForSequenceClassification(config).to(device).train()
model.freeze_feature_encoder()
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.05)
torch_xla.sync()
for step in range(5):
    sounds, labels = torch.randn(4, 400).to(device), torch.randint(3, (4,)).to(device)
    optimizer.zero_grad()
    loss = model(input_values=sounds, labels=labels).loss  # <- cause, cut
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
