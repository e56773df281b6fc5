# cause: structure
# subject: optimizer
# old: updates 27 tensors
# new: updates 18 tensors
# advice: requires_grad
# reason: a frozen encoder gets no gradients, and the optimizer skips it

import torch
import torch_xla
from transformers import T5Config, T5ForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
config = T5Config(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, dropout_rate=0.0,
                  decoder_start_token_id=0)
model = T5ForConditionalGeneration(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch_xla.sync()
for epoch in range(3):
    if epoch == 2:
        for parameter in model.encoder.block.parameters():
            parameter.requires_grad_(False)
    for _ in range(2):
        ids, labels = torch.randint(64, (2, 8)).to(device), torch.randint(64, (2, 5)).to(device)
        optimizer.zero_grad()
        model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()  # <- cause
        torch_xla.sync()  # <- call
