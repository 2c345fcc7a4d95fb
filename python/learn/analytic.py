"""Analytic policy gradients: the octopus learns to swim to any target, by derivatives through the simulator.

    python3 python/learn/analytic.py -o results/swim

Short horizons: in each update a few octopuses swim on for WINDOW actions, wherever they are; the loss is how far they are
from their targets on the way, and where they drift to, and its exact gradient by the network's weights comes from one
reverse pass through network and simulator. An episode ends after some seconds; the next begins with another target.

Two stages: first all begin at rest and swim to far targets; then most have a target close by, at rest or on their way, and learn
to stop and to stay.
"""
import argparse
import copy
import json
import os
import time
from typing import Any, Dict, List

import numpy as np
import torch

import cuttle
import cuttle.torch as ct
from swim import HOLD, REACH, Aims, Body, Policy, exam, report

BATCH, WINDOW, EPISODE = 4, 24, 6  # octopuses; actions of a window; windows of an episode
DRIFT = 0.4  # s, that the water carries on what moves
RATE, UPDATES = (1e-2, 6e-3), (140, 80)  # of the stages
NEARER = (0.0, 0.5)  # m, to targets close by
TOLERANCE = 1e-2  # of the steps that are learnt from: 1.7 times as fast as 1e-4, gradients within 2 %


def start_policy(seed: int) -> Policy:
    torch.manual_seed(seed)
    return Policy()


class Trainer:
    """Octopuses on their way, and the policy that they share."""

    def __init__(
        self,
        body: Body,
        seed: int = 0,
        batch: int = BATCH,
        window: int = WINDOW,
        rate: float = RATE[0],
        stage: int = 1,
        policy: Any = None,
    ) -> None:
        self.body, self.policy, self.aims = body, policy or start_policy(seed), Aims(seed)
        self.before: Any = None
        self.stage = stage
        self.window, self.batch, self.updates, self.failures, self.episodes = window, batch, 0, 0, 0
        self.ends: List[float] = []  # distances at the ends of episodes, m
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=rate, betas=(0.9, 0.98))
        self.state = ct.initial(body.model, batch)
        self.age = torch.zeros(batch, dtype=torch.float64)
        self.windows = np.arange(batch) * EPISODE // batch  # so that they do not begin all at a time
        self.targets = torch.zeros(batch, 3, dtype=torch.float64)
        for i in range(batch):
            self.begin(i)
            self.windows[i] = i * EPISODE // batch

    def begin(self, i: int, near: Any = REACH) -> None:
        """An episode: at rest, the clock anywhere."""
        self.episodes += 1
        vector, carried = self.state.vector.clone(), self.state.bytes.clone()
        vector[i], carried[i] = self.body.start.vector, self.body.start.bytes
        self.state = ct.State(vector, carried)
        self.age[i] = self.aims.random.uniform(0, 10)
        self.windows[i] = 0
        self.targets[i] = self.aims.target(np.zeros(3), [0, 1.0, 0], near)

    def go_on(self, i: int) -> None:
        """Another episode, from where it is."""
        self.episodes += 1
        x = ct.positions(self.body.model, self.state)[i : i + 1]
        self.windows[i] = EPISODE // 3
        self.targets[i] = self.aims.target(self.body.center(x)[0].numpy(), self.body.frame(x)[0, :, 1].numpy(), NEARER)

    def loss(self, current: torch.Tensor) -> torch.Tensor:
        """Of a window that begins where the last one ended."""
        model, body, state, total = self.body.model, self.body, self.state, []
        for k in range(self.window):
            x, v, a = ct.positions(model, state), ct.velocities(model, state), ct.part(model, state, "actuation")
            seen = body.see(x, v, a, self.targets, current.expand(self.batch, 3), self.age + k * HOLD * model.time_step)
            state = ct.step(model, state, self.policy(seen), body.pool, steps=HOLD)
            x, v = ct.positions(model, state), ct.velocities(model, state)
            ahead = self.targets - body.center(x) - DRIFT * (body.center(v) if k == self.window - 1 else 0)
            total.append((ahead.square().sum(1) + 0.05**2).sqrt())
        self.after = ct.State(state.vector.detach(), state.bytes)
        far = torch.stack(total)
        return (far[-1] + 0.5 * far.mean(0)).mean()

    def update(self) -> Dict[str, Any]:
        """One step of Adam."""
        current = self.aims.current()
        self.body.model.set(water_current=current.numpy())
        begun = time.thread_time()
        self.before = (self.body.center(ct.positions(self.body.model, self.state)) - self.targets).norm(dim=1)
        row: Dict[str, Any] = {"update": self.updates}
        try:
            loss = self.loss(current)
            forward = time.thread_time()
            self.optimizer.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            if not bool(torch.isfinite(norm)):
                raise cuttle.Error("the gradient is not finite")
            self.optimizer.step()
            self.state = self.after
            row.update(loss=float(loss), norm=float(norm), forward=forward - begun, backward=time.thread_time() - forward)
        except cuttle.Error as error:  # a step did not converge: all begin anew
            self.failures += 1
            self.windows[:] = EPISODE
            self.before = None
            row.update(loss=float("nan"), error=str(error))
        self.updates += 1
        self.age = self.age + self.window * HOLD * self.body.model.time_step
        self.windows += 1
        x = ct.positions(self.body.model, self.state)
        far = (self.body.center(x) - self.targets).norm(dim=1)
        row["distance"] = float(far.mean())
        if self.before is not None:  # of those that are still on their way, m/s
            away = self.before > 0.3
            gone = (self.before - far)[away] / (self.window * HOLD * self.body.model.time_step)
            row["speed"] = float(gone.mean()) if len(gone) else float("nan")
        for i in np.flatnonzero(self.windows >= EPISODE):
            self.ends.append(float(far[i]))
            chance = self.aims.random.uniform()
            if self.stage == 2 and self.before is not None and chance < 0.45:
                self.go_on(int(i))
            else:
                self.begin(int(i), NEARER if self.stage == 2 and chance < 0.7 else REACH)
        return row


def train(trainer: Trainer, updates: int, rate: float, path: str) -> List[Dict[str, Any]]:
    """All updates, with a rate that falls from the middle on."""
    rows: List[Dict[str, Any]] = []
    begun = time.process_time()
    for k in range(updates):
        for group in trainer.optimizer.param_groups:
            group["lr"] = rate * min(1.0, 2 * (1 - k / updates) + 0.05)
        rows.append(trainer.update())
        rows[-1]["seconds"] = time.process_time() - begun
        if k % 10 == 9:
            mean = {n: np.nanmean([r.get(n, np.nan) for r in rows[-10:]]) for n in ("loss", "speed", "norm", "forward", "backward")}
            print(
                f"{rows[-1]['seconds']:6.0f} s  {k + 1:4d}  loss {mean['loss']:.3f}  {mean['speed']:.3f} m/s  ends at "
                f"{np.mean(trainer.ends[-12:] or [np.nan]):.3f} m  |g| {mean['norm']:.2g}  forward {mean['forward']:.2f} s, backward "
                f"{mean['backward']:.2f} s  failed {trainer.failures}",
                flush=True,
            )
            torch.save(trainer.policy.state_dict(), path)
    torch.save(trainer.policy.state_dict(), path)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="results/swim")
    parser.add_argument("--updates", type=int, nargs=2, default=UPDATES, help="of the stages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--second", action="store_true", help="the first stage is done: goes on with policy.pt")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(options.output, exist_ok=True)
    path, soft = os.path.join(options.output, "policy.pt"), Body(tolerance=TOLERANCE)
    policy, rows, episodes = start_policy(options.seed), [], 0  # type: Any, List[Dict[str, Any]], int
    start = copy.deepcopy(policy)
    if options.second:
        policy.load_state_dict(torch.load(path))
    for stage in (2,) if options.second else (1, 2):
        trainer = Trainer(soft, options.seed + 100 * (stage - 1), rate=RATE[stage - 1], stage=stage, policy=policy)
        begun = rows[-1]["seconds"] if rows else 0.0
        more = train(trainer, options.updates[stage - 1], RATE[stage - 1], path)
        rows += [{**row, "seconds": row["seconds"] + begun, "stage": stage} for row in more]
        episodes += trainer.episodes
    body, exams = Body(), {}  # examined with the scene's own tolerance
    for name, policy in (("after", policy), ("before", start)):
        parts = exam(body, policy)
        print(f"{name}: still water:", report(parts[0]), "| currents:", report(parts[1]), flush=True)
        exams[name] = [part.tolist() for part in parts]
        with open(os.path.join(options.output, f"analytic_{options.seed}.json"), "w") as file:
            json.dump({"rows": rows, "episodes": episodes, **exams}, file)


if __name__ == "__main__":
    main()
