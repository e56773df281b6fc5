# cause: dtype
# old: i64[4,12]
# new: bool[4,12]
# advice: .to(dtype)
# reason: one of two collate functions makes the mask by a comparison

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=64, hidden_dropout_prob=0.0,
                    attention_probs_dropout_prob=0.0, num_labels=3, attn_implementation="eager")
model = BertForSequenceClassification(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
torch_xla.sync()


def tokenized(rows):
    ids = torch.randint(1, 64, (rows, 12))
    ids[:, 9:] = 0
    return {"input_ids": ids, "attention_mask": (ids != 0).long()}


def cached(rows):
    ids = torch.randint(1, 64, (rows, 12))
    ids[:, 7:] = 0
    return {"input_ids": ids, "attention_mask": ids != 0}


for source in (tokenized, tokenized, cached):
    batch = source(4)
    ids = batch["input_ids"].to(device)
    mask = batch["attention_mask"].to(device)  # <- cause
    labels = torch.randint(3, (4,)).to(device)
    optimizer.zero_grad()
    model(input_ids=ids, attention_mask=mask, labels=labels).loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
