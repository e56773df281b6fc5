# cause: structure
# old: nothing
# reason: the head that tells speakers joins in the second epoch

import torch
import torch.nn.functional as F
import torch_xla
from transformers import HubertConfig, HubertModel

device = torch_xla.device()
torch.manual_seed(0)
config = HubertConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                      conv_dim=(8, 8), conv_kernel=(10, 4), conv_stride=(5, 4), num_feat_extract_layers=2,
                      num_conv_pos_embeddings=4, num_conv_pos_embedding_groups=2, conv_pos_batch_norm=True)


class Recognizer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = HubertModel(config).eval()
        self.words = torch.nn.Linear(16, 12)
        self.speakers = torch.nn.Linear(16, 3)

    def forward(self, sound, word, speaker, epoch):
        with torch.no_grad():
            hidden = self.body(sound).last_hidden_state.mean(1)
        loss = F.cross_entropy(self.words(hidden), word)
        if epoch:
            loss = loss + F.cross_entropy(self.speakers(hidden), speaker)  # <- cause
        return loss


model = Recognizer().to(device)
optimizer = torch.optim.SGD([*model.words.parameters(), *model.speakers.parameters()], lr=0.1)
sounds, words, speakers = torch.randn(8, 400), torch.randint(12, (8,)), torch.randint(3, (8,))
sounds, words, speakers = sounds.to(device), words.to(device), speakers.to(device)
torch_xla.sync()
for epoch in (0, 0, 1):
    optimizer.zero_grad()
    loss = model(sounds, words, speakers, epoch)
    loss.backward()
    optimizer.step()
    torch_xla.sync()  # <- call
    print(loss.item())
