# cause: shape
# advice: drop the short batch | pad

import torch
import torch_xla
from torch.utils.data import DataLoader, Dataset
from transformers import T5Config, T5ForConditionalGeneration


class Pairs(Dataset):
    """Questions and answers of fixed lengths."""

    def __init__(self, count):
        self.questions = torch.randint(2, 48, (count, 10))
        self.answers = torch.randint(2, 48, (count, 6))

    def __len__(self):
        return len(self.questions)

    def __getitem__(self, at):
        return {"input_ids": self.questions[at], "labels": self.answers[at]}


def train_epoch(model, loader, optimizer, device):
    model.train()
    losses = []
    for batch in loader:
        batch = {name: value.to(device) for name, value in batch.items()}  # <- cause
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # <- call
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    config = T5Config(vocab_size=48, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                      dropout_rate=0.0, decoder_start_token_id=0)
    model = T5ForConditionalGeneration(config).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch_xla.sync()
    loader = DataLoader(Pairs(10), batch_size=4)
    for epoch in range(2):
        print(epoch, train_epoch(model, loader, optimizer, device))


main()
