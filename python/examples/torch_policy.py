"""A torch policy learns to reach with a pneumatic finger, by gradients through the simulator at every step."""
import numpy as np
import torch

import cuttle
import cuttle.torch as ct

model = cuttle.load("finger").model(threads=1)
tip = int(np.argmin(np.linalg.norm(model.rest - [0.424, 0.512, 0], axis=1)))
target = torch.tensor([0.24, 0.15, 0.0], dtype=torch.float64)
torch.manual_seed(0)
policy = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, model.control_size)).double()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.04)


def episode(steps):
    state, loss, controls = ct.initial(model), 0.0, []
    for step in range(steps):  # a short horizon; what counts is where the tip is in its second half
        x, v = ct.positions(model, state)[tip], ct.velocities(model, state)[tip]
        controls.append(2.5 * torch.sigmoid(policy(torch.cat([10 * (x - target), v])) - 3))
        state = ct.step(model, state, controls[-1])
        if step >= steps // 2:
            loss = loss + (ct.positions(model, state)[tip] - target).square().sum() / (steps - steps // 2)
    return loss, torch.stack(controls).detach().numpy()


losses, pictures = [], []
for number in range(16):
    loss, controls = episode(24)
    if number in (0, 15):
        pictures.append(model.rollout(controls).picture(mark=target.numpy(), width=480))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    print(f"episode {number:2d}: {np.sqrt(losses[-1]):.4f} m from the target")
assert losses[-1] < 0.2 * losses[0]
cuttle.save_png("torch_policy.png", cuttle.beside(*pictures))
