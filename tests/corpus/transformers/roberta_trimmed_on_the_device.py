# cause: host_read
# subject: slice limit
# old: 12
# new: 9
# reason: the read is the cause: the number is a constant of the next program

import torch
import torch_xla
from transformers import RobertaConfig, RobertaForSequenceClassification

LENGTH = 16
ROWS = [[9, 12, 7, 12], [12, 8, 12, 5], [6, 9, 7, 8]]  # how long the rows of each batch are


def batches():
    for lengths in ROWS:
        ids = torch.full((len(lengths), LENGTH), 1)
        for row, length in enumerate(lengths):
            ids[row, :length] = torch.randint(3, 64, (length,))
        yield {"input_ids": ids, "attention_mask": (ids != 1).long(),
               "labels": torch.randint(3, (len(lengths),))}


def trim(batch):
    """Cuts off columns that are padding in all rows."""
    longest = int(batch["attention_mask"].sum(1).max())  # <- cause, cut
    return batch | {name: batch[name][:, :longest] for name in ("input_ids", "attention_mask")}


def train(model, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for batch in batches():
        batch = trim({name: value.to(device) for name, value in batch.items()})  # <- call
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        print(loss.item())


torch.manual_seed(0)
device = torch_xla.device()
config = RobertaConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=32, max_position_embeddings=32, hidden_dropout_prob=0.0,
                       attention_probs_dropout_prob=0.0, num_labels=3, attn_implementation="eager")
model = RobertaForSequenceClassification(config).to(device)
torch_xla.sync()
train(model, device)
