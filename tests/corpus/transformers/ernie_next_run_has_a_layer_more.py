# cause: structure
# old: nothing
# run: LAYERS=1
# run: LAYERS=2
# reason: the second run has one more layer; its weights come with it

import os

import torch
import torch_xla
from transformers import ErnieConfig, ErnieForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = ErnieConfig(vocab_size=64, hidden_size=16, num_hidden_layers=int(os.environ["LAYERS"]),
                     num_attention_heads=2, intermediate_size=32, max_position_embeddings=24, num_labels=3,
                     hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="eager")
model = ErnieForSequenceClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
mask = torch.ones(4, 10, dtype=torch.long).to(device)
torch_xla.sync()
for step in range(3):
    ids, labels = torch.randint(1, 64, (4, 10)).to(device), torch.randint(3, (4,)).to(device)
    optimizer.zero_grad()
    loss = model(input_ids=ids, attention_mask=mask, labels=labels).loss  # <- cause
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
