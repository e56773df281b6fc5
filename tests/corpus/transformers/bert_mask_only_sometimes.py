# cause: arguments
# old: absent
# new: f32[4,16]
# advice: same keys

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=64, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0, num_labels=3,
                    attn_implementation="eager")
model = BertForSequenceClassification(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
mask = torch.ones(4, 16)
ids = torch.randint(64, (4, 16)).to(device)
labels = torch.randint(3, (4,)).to(device)
torch_xla.sync()
for step in range(4):
    batch = {"input_ids": ids, "labels": labels}
    if step == 3:
        batch["attention_mask"] = mask.to(device)  # <- cause
    optimizer.zero_grad()
    model(**batch).loss.backward()  # <- read
    optimizer.step()
    torch_xla.sync()  # <- call
