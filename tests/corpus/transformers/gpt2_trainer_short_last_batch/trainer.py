import torch
import torch_xla


class Trainer:
    def __init__(self, model, loader, epochs):
        self.device = torch_xla.device()
        self.model, self.loader, self.epochs = model.to(self.device), loader, epochs
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.log = []

    def prepare(self, batch):
        batch = {name: value.to(self.device) for name, value in batch.items()}  # <- cause
        return batch | {"labels": batch["input_ids"]}

    def training_step(self, batch):
        self.model.train()
        loss = self.model(**self.prepare(batch)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        torch_xla.sync()  # <- call
        return loss

    def train(self):
        for _ in range(self.epochs):
            for batch in self.loader:
                loss = self.training_step(batch)
            self.log.append(loss.item())
