# cause: shape
# old: i64[8,12]
# new: i64[4,12]
# advice: drop_last
# reason: twenty texts make two batches of eight and one of four

import torch
import torch_xla
from torch.utils.data import DataLoader
from transformers import RobertaConfig, RobertaForMaskedLM

device = torch_xla.device()
torch.manual_seed(0)
PAD, MASK = 1, 3
config = RobertaConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=32, max_position_embeddings=20, hidden_dropout_prob=0.0,
                       attention_probs_dropout_prob=0.0, pad_token_id=PAD, attn_implementation="eager")
model = RobertaForMaskedLM(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
texts = torch.randint(4, 64, (20, 12))
torch_xla.sync()


def collate(rows):
    ids = torch.stack(rows)
    hidden = torch.rand(ids.shape) < 0.15
    labels = ids.masked_fill(~hidden, -100)
    labels[:, 0] = ids[:, 0]
    return {"input_ids": ids.masked_fill(hidden, MASK), "labels": labels}


for step, batch in enumerate(DataLoader(list(texts), batch_size=8, collate_fn=collate)):
    batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(step, loss.item())
