# program: SyncTensorsGraph
# cause: first
# reason: the accuracy of the batch is read before backward, in every step

import torch
import torch_xla
from transformers import DistilBertConfig, DistilBertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = DistilBertConfig(vocab_size=60, dim=16, hidden_dim=32, n_layers=1, n_heads=2, num_labels=2,
                          max_position_embeddings=32, dropout=0.0, attention_dropout=0.0,
                          seq_classif_dropout=0.0, attn_implementation="eager")
model = DistilBertForSequenceClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()
seen = right = 0
for step in range(5):
    ids = torch.randint(1, 60, (4, 12))
    labels = (ids[:, 0] > 30).long().to(device)
    optimizer.zero_grad()
    out = model(input_ids=ids.to(device), attention_mask=torch.ones(4, 12).to(device), labels=labels)
    right += (out.logits.argmax(-1) == labels).sum().item()  # <- cut
    seen += 4
    out.loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(step, right / seen)
