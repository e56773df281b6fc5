# program: SyncTensorsGraph
# cause: first
# reason: the library counts the tokens of each row and asserts on the host that no row is too long

import torch
import torch_xla
from transformers import XLMConfig, XLMForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = XLMConfig(vocab_size=64, emb_dim=16, n_layers=1, n_heads=2, n_langs=1, max_position_embeddings=24,
                   dropout=0.0, attention_dropout=0.0, pad_index=2, num_labels=3)
model = XLMForSequenceClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
for step in range(4):
    ids = torch.randint(5, 64, (4, 10))
    ids[:, 8:] = 2
    batch = {"input_ids": ids, "attention_mask": (ids != 2).long(), "labels": torch.randint(3, (4,))}
    batch = {name: value.to(device) for name, value in batch.items()}
    optimizer.zero_grad()
    loss = model(**batch).loss  # <- cut
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- cause
    print(step, loss.item())
