# cause: stable

import torch
import torch_xla
from transformers import BertConfig, BertForTokenClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=32, num_labels=4,
                    attn_implementation="eager")
model = BertForTokenClassification(config)
for parameter in model.bert.embeddings.parameters():
    parameter.requires_grad = False
model.to(device)
plain = [p for name, p in model.named_parameters() if p.requires_grad and p.dim() == 1]
decayed = [p for name, p in model.named_parameters() if p.requires_grad and p.dim() > 1]
optimizer = torch.optim.SGD([{"params": plain, "weight_decay": 0.0},
                             {"params": decayed, "weight_decay": 0.01}], lr=0.05)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.9 ** (step + 1))
torch_xla.sync()


def batch(rows=4, length=12):
    ids, labels = torch.zeros(rows, length, dtype=torch.long), torch.full((rows, length), -100)
    for row in range(rows):
        words = 3 + int(torch.randint(length - 3, ()))
        ids[row, :words] = torch.randint(1, 64, (words,))
        labels[row, :words] = torch.randint(4, (words,))
    return {"input_ids": ids, "attention_mask": (ids != 0).float(), "labels": labels}


model.train()
for step in range(3):
    optimizer.zero_grad()
    for _ in range(2):
        inputs = {name: value.to(device) for name, value in batch().items()}
        (model(**inputs).loss / 2).backward()
    torch.nn.utils.clip_grad_norm_(plain + decayed, 1.0)
    optimizer.step()
    schedule.step()
    torch_xla.sync()
