import torch
import torch_xla


class Trainer:
    def __init__(self, model, device):
        self.device, self.model = device, model.to(device)
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=0.05)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=2, gamma=0.7)
        self.steps, self.loss = 0, None
        torch_xla.sync()

    def epoch(self, data):
        for x, y in data:
            self.optimizer.zero_grad()
            self.loss = torch.nn.functional.mse_loss(self.model(x.to(self.device)), y.to(self.device))
            self.loss.backward()
            self.optimizer.step()
            self.schedule.step()
            torch_xla.sync()
            self.steps += 1

    def save(self, file):
        weights = {name: value.cpu() for name, value in self.model.state_dict().items()}
        torch.save({"model": weights, "schedule": self.schedule.state_dict(), "steps": self.steps}, file)

    def load(self, file):
        state = torch.load(file, map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.schedule.load_state_dict(state["schedule"])
        self.steps = state["steps"]
