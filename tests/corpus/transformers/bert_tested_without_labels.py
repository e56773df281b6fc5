# cause: arguments
# old: i64[4]
# new: absent
# advice: same
# reason: the rows of the test have no labels, and so there is no loss

import torch
import torch_xla
from transformers import BertConfig, BertForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = BertConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=32, max_position_embeddings=32, num_labels=3,
                    attn_implementation="eager")
model = BertForSequenceClassification(config).to(device).eval()
torch_xla.sync()


@torch.no_grad()
def predict(batches):
    chosen, losses = [], []
    for batch in batches:
        batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
        result = model(**batch)
        best = result.logits.argmax(-1)
        torch_xla.sync()  # <- call
        chosen += best.tolist()
        if result.loss is not None:
            losses.append(result.loss.item())
    return chosen, losses


def batch(labelled):
    rows = {"input_ids": torch.randint(64, (4, 12)), "attention_mask": torch.ones(4, 12)}
    return rows | ({"labels": torch.randint(3, (4,))} if labelled else {})


print(predict([batch(True), batch(True)]))
print(predict([batch(False)]))
