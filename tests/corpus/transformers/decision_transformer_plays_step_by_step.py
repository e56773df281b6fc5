# cause: constant
# old: 3
# new: 4
# pattern: counter
# reason: the next action is taken at the number of the move

import torch
import torch_xla
from transformers import DecisionTransformerConfig, DecisionTransformerModel

device = torch_xla.device()
torch.manual_seed(0)
config = DecisionTransformerConfig(state_dim=5, act_dim=2, hidden_size=16, max_ep_len=16, n_layer=1, n_head=2,
                                   resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = DecisionTransformerModel(config).to(device).eval()
torch_xla.sync()
states, actions, returns = torch.zeros(1, 6, 5), torch.zeros(1, 6, 2), torch.full((1, 6, 1), 10.0)
times, seen = torch.arange(6)[None], torch.zeros(1, 6)
states[:, 0] = torch.randn(5)
for move in range(1, 5):
    seen[:, :move + 1] = 1
    inputs = [x.to(device) for x in (states, actions, returns, times, seen)]
    with torch.no_grad():
        guess = model(states=inputs[0], actions=inputs[1], rewards=None, returns_to_go=inputs[2],
                      timesteps=inputs[3], attention_mask=inputs[4])
        action = guess.action_preds[:, move]  # <- cause
    torch_xla.sync()  # <- call
    actions[:, move] = action.cpu()
    states[:, move + 1] = states[:, move] * 0.9 + 0.1 * actions[:, move].sum()
    returns[:, move + 1] = returns[:, move] - 1
