# program: SyncTensorsGraph
# cause: first
# reason: for scaled dot products the library reads whether the mask is all ones; nothing of that goes on

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=64, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0, num_labels=3)
model = BertForSequenceClassification(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ids = torch.randint(64, (4, 16)).to(device)
mask = torch.ones(4, 16).to(device)
labels = torch.randint(3, (4,)).to(device)
torch_xla.sync()
for step in range(4):
    optimizer.zero_grad()
    model(input_ids=ids, attention_mask=mask, labels=labels).loss.backward()  # <- read
    optimizer.step()
    torch_xla.sync()  # <- cause
