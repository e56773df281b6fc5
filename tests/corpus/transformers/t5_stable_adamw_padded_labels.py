# cause: stable

import torch
import torch_xla
from transformers import T5Config, T5ForConditionalGeneration

device = torch_xla.device()
torch.manual_seed(0)
config = T5Config(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                  dropout_rate=0.1, decoder_start_token_id=0)
model = T5ForConditionalGeneration(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)
for p in model.parameters():
    optimizer.state[p] = {"step": torch.zeros((), device=p.device),
                          "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
torch_xla.sync()


def collate(lengths, longest):
    ids = torch.zeros(len(lengths), longest, dtype=torch.long)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.randint(1, 64, (length,))
    return ids


model.train()
for step in range(4):
    ids = collate(torch.randint(4, 12, (4,)).tolist(), 12)
    labels = collate(torch.randint(2, 8, (4,)).tolist(), 8)
    labels[labels == 0] = -100
    batch = {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}
    loss = model(**{name: value.to(device) for name, value in batch.items()}).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
    print(step, round(loss.item(), 3))
