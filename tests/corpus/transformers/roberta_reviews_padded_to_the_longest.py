# cause: shape
# pattern: unpadded

import torch
import torch_xla
from transformers import RobertaConfig, RobertaForSequenceClassification

device = torch_xla.device()
torch.manual_seed(0)
config = RobertaConfig(vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                       intermediate_size=24, max_position_embeddings=40, num_labels=2, pad_token_id=1,
                       hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="eager")


class Collator:
    def __init__(self, pad):
        self.pad = pad

    def __call__(self, reviews):
        longest = max(map(len, reviews))
        ids = torch.full((len(reviews), longest), self.pad)
        for row, review in zip(ids, reviews):
            row[:len(review)] = torch.tensor(review)
        return ids


def reviews(lengths):
    return [torch.randint(2, 60, (length,)).tolist() for length in lengths]


model = RobertaForSequenceClassification(config).to(device).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
collate = Collator(config.pad_token_id)
torch_xla.sync()
for lengths in ((9, 14), (11, 8), (17, 5), (12, 6), (21, 10)):
    ids = collate(reviews(lengths)).to(device)  # <- cause
    labels = torch.randint(2, (2,)).to(device)
    optimizer.zero_grad()
    loss = model(input_ids=ids, attention_mask=(ids != collate.pad).long(), labels=labels).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(loss.item())
