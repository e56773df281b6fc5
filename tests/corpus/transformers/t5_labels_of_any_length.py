# cause: shape
# old: i64[4,8]
# new: i64[4,6]

import torch
import torch_xla
from transformers import T5Config, T5ForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
config = T5Config(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                  dropout_rate=0.0, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ids = torch.randint(64, (4, 16)).to(device)
torch_xla.sync()
for length in (8, 8, 6):
    labels = torch.randint(64, (4, length)).to(device)  # <- cause
    optimizer.zero_grad()
    model(input_ids=ids, labels=labels).loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
