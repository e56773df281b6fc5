# cause: stable

import torch
import torch_xla
from transformers import AlbertConfig, AlbertForMultipleChoice


def batches(count, rows=3, choices=4, length=10):
    for _ in range(count):
        ids = torch.randint(3, 64, (rows, choices, length))
        yield {"input_ids": ids, "attention_mask": torch.ones_like(ids),
               "labels": torch.randint(choices, (rows,))}


class Session:
    def __init__(self, model, device):
        self.model, self.device = model.to(device), device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        torch_xla.sync()

    def move(self, batch):
        return {name: value.to(self.device) for name, value in batch.items()}

    def train(self, data):
        self.model.train()
        for batch in data:
            self.optimizer.zero_grad()
            loss = self.model(**self.move(batch)).loss
            loss.backward()
            self.optimizer.step()
            torch_xla.sync()
        return loss.item()

    @torch.no_grad()
    def test(self, data):
        self.model.eval()
        right = torch.zeros((), dtype=torch.long)
        for batch in data:
            logits = self.model(**self.move(batch)).logits
            torch_xla.sync()
            right += (logits.cpu().argmax(-1) == batch["labels"]).sum()
        return right.item()


torch.manual_seed(0)
config = AlbertConfig(vocab_size=64, embedding_size=8, hidden_size=16, num_hidden_layers=2,
                      num_attention_heads=2, intermediate_size=32, max_position_embeddings=32,
                      attn_implementation="eager")
session = Session(AlbertForMultipleChoice(config), torch_xla.device())
for epoch in range(2):
    print(epoch, session.train(batches(2)), session.test(batches(2)))
