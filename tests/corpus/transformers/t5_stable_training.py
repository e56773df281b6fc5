# cause: stable

import torch
import torch_xla
from transformers import T5Config, T5ForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
config = T5Config(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                  dropout_rate=0.0, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    ids, labels = torch.randint(64, (4, 16)), torch.randint(64, (4, 8))
    optimizer.zero_grad()
    model(input_ids=ids.to(device), labels=labels.to(device)).loss.backward()
    optimizer.step()
    torch_xla.sync()
