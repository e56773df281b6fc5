# cause: structure
# reason: with layerdrop the library leaves out layers of the encoder by a number that the host draws

import torch
import torch_xla
from transformers import MBartConfig, MBartForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(3)
config = MBartConfig(vocab_size=64, d_model=16, encoder_layers=3, decoder_layers=1, encoder_attention_heads=2,
                     decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=24,
                     dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, encoder_layerdrop=0.4,
                     attn_implementation="eager")
model = MBartForConditionalGeneration(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for step in range(6):
    sources, targets = torch.randint(4, 64, (3, 8)).to(device), torch.randint(4, 64, (3, 6)).to(device)
    optimizer.zero_grad()
    loss = model(input_ids=sources, labels=targets).loss  # <- cause
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
