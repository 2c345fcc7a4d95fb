"""A torch policy learns to bend a pneumatic finger, by gradients through the simulator at every step."""
import torch

import cuttle
import cuttle.torch as ct

model = cuttle.load("finger").model(threads=1)
tip = model.rest[:, 0].argmax()
target = torch.tensor(model.rest[tip]) + torch.tensor([-0.03, 0.03, 0.0], dtype=torch.float64)
torch.manual_seed(0)
policy = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, model.control_size)).double()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)

losses = []
for episode in range(8):
    state, loss = ct.initial(model), 0.0
    for _ in range(10):  # a short horizon
        x, v = ct.positions(model, state)[tip], ct.velocities(model, state)[tip]
        state = ct.step(model, state, 0.5 * torch.sigmoid(policy(torch.cat([x - target, v]))))
        loss = loss + (ct.positions(model, state)[tip] - target).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    print(f"episode {episode}: {losses[-1]:.4e}")
assert losses[-1] < losses[0]
