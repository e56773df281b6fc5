# cause: stable

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
model.eval()
data = [(torch.randint(64, (4, 16)), torch.randint(3, (4,))) for _ in range(4)]
mask = torch.ones(4, 16).to(device)
right = torch.zeros((), device=device)
torch_xla.sync()
with torch.no_grad():
    for ids, labels in data:
        logits = model(input_ids=ids.to(device), attention_mask=mask).logits
        right += (logits.argmax(-1) == labels.to(device)).sum()
        torch_xla.sync()
print(right.item())
