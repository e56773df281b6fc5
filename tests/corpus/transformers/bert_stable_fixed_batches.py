# cause: stable
# reason: every batch is padded to one length with a mask, token types and all, and evaluated on a line of its own

import torch
import torch_xla
from transformers import BertConfig, BertForTokenClassification

LENGTH = 12
device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
                    max_position_embeddings=LENGTH, num_labels=4, attn_implementation="eager")


def batch():
    ids, labels = torch.zeros(4, LENGTH, dtype=torch.long), torch.full((4, LENGTH), -100)
    for row, tags in zip(ids, labels):
        length = int(torch.randint(4, LENGTH, (1,)))
        row[:length] = torch.randint(1, 50, (length,))
        tags[:length] = torch.randint(4, (length,))
    arrays = {"input_ids": ids, "attention_mask": (ids > 0).long(), "token_type_ids": torch.zeros_like(ids),
              "labels": labels}
    return {name: value.to(device) for name, value in arrays.items()}


def train(model, optimizer, steps):
    model.train()
    for _ in range(steps):
        loss = model(**batch()).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return loss.item()


@torch.no_grad()
def evaluate(model):
    model.eval()
    logits = model(**batch()).logits
    torch_xla.sync()
    return logits.argmax(-1).cpu()


model = BertForTokenClassification(config).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
torch_xla.sync()
for epoch in range(2):
    print(epoch, train(model, optimizer, 3), evaluate(model)[0])
