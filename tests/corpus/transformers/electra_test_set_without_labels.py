# cause: arguments
# old: i64[4]
# new: absent
# reason: one function evaluates and predicts; texts to predict have no labels, and so no loss

import torch
import torch_xla
from transformers import ElectraConfig, ElectraForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = ElectraConfig(vocab_size=64, embedding_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=32, max_position_embeddings=32, num_labels=2,
                       attn_implementation="eager")
model = ElectraForSequenceClassification(config).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def run(batches):
    logits, losses = [], []
    for batch in batches:
        batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
        outputs = model(**batch)
        torch_xla.sync()  # <- call
        logits.append(outputs.logits.cpu())
        if outputs.loss is not None:
            losses.append(outputs.loss.item())
    return torch.cat(logits), sum(losses) / max(len(losses), 1)


def texts(labelled):
    batch = {"input_ids": torch.randint(64, (4, 12)), "attention_mask": torch.ones(4, 12, dtype=torch.long)}
    if labelled:
        batch["labels"] = torch.randint(2, (4,))
    return batch


print(run([texts(labelled=True) for _ in range(2)])[1])
print(run([texts(labelled=False) for _ in range(2)])[0].shape)
