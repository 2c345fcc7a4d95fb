"""PPO and SAC, for tasks whose episodes all have as many actions.

PPO: Schulman et al. 2017, with generalised advantages. SAC: Haarnoja et al. 2018, two critics and an entropy that is
steered; it is the closest kin of the soft Q-learning that it stands in for. Observations are normalised by their running mean
and deviation. Actions are in [-1, 1]; the task smooths them in time.

A task has: count (episodes side by side), size, actions (numbers of an observation and of an action), length (actions of an
episode), reset() -> observations, step(actions) -> observations, rewards, failed, and may have actor() -> network.
"""
import math
import time
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import torch

Tensor = torch.Tensor
Report = Callable[[Dict[str, Any]], bool]  # of a batch of episodes; False: that is enough


def mlp(*sizes: int) -> torch.nn.Sequential:
    layers: List[torch.nn.Module] = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


class Normaliser:
    """Running mean and deviation."""

    def __init__(self, size: int) -> None:
        self.mean, self.square, self.count = np.zeros(size), np.ones(size), 1e-2

    def __call__(self, seen: Any, learn: bool = True) -> Tensor:
        if learn:
            n = len(seen)
            self.mean += (seen.mean(0) - self.mean) * n / (self.count + n)
            self.square += ((seen**2).mean(0) - self.square) * n / (self.count + n)
            self.count += n
        deviation = np.sqrt(np.maximum(self.square - self.mean**2, 1e-8))
        return torch.from_numpy(np.clip((seen - self.mean) / deviation, -5, 5)).float()


def actor_of(task: Any, outputs: int, width: int) -> torch.nn.Module:
    own = getattr(task, "actor", None)
    return own(outputs) if own else mlp(task.size, width, width, outputs * task.actions)


class PPO:
    """rate, clip, epochs, ...: as in the paper; deviation: of actions, at first."""

    def __init__(
        self,
        task: Any,
        seed: int = 0,
        rate: float = 1e-3,
        epochs: int = 8,
        clip: float = 0.2,
        gamma: float = 0.995,
        trace: float = 0.95,
        deviation: float = 0.4,
        width: int = 64,
        minibatches: int = 4,
    ) -> None:
        torch.manual_seed(seed)
        self.task, self.clip, self.gamma, self.trace, self.epochs = task, clip, gamma, trace, epochs
        self.minibatches = minibatches
        self.actor, self.critic = actor_of(task, 1, width), mlp(task.size, width, width, 1)
        with torch.no_grad():
            list(self.actor.parameters())[-2].mul_(0.1)
        self.log_std = torch.nn.Parameter(torch.full((task.actions,), math.log(deviation)))
        self.seen = Normaliser(task.size)
        self.parameters = [*self.actor.parameters(), *self.critic.parameters(), self.log_std]
        self.optimizer = torch.optim.Adam(self.parameters, lr=rate)

    def __call__(self, observations: Any) -> Any:
        """Actions without noise."""
        with torch.no_grad():
            return self.actor(self.seen(observations, learn=False)).numpy()

    def _normal(self, seen: Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(self.actor(seen), self.log_std.exp())

    def collect(self) -> Tuple[Tensor, Tensor, Tensor, Any, Any]:
        """One episode of each: what was seen, actions, their likelihood, rewards, whether they went on."""
        seen, acts, likelihood, rewards, alive = [], [], [], [], [np.ones(self.task.count, bool)]
        now = self.task.reset()
        for _ in range(self.task.length):
            o = self.seen(now)
            with torch.no_grad():
                normal = self._normal(o)
                a = normal.sample()
            now, r, failed = self.task.step(a.numpy())
            seen.append(o), acts.append(a), likelihood.append(normal.log_prob(a).sum(-1)), rewards.append(r)  # type: ignore
            alive.append(alive[-1] & ~failed)
        return torch.stack(seen), torch.stack(acts), torch.stack(likelihood), np.array(rewards), np.array(alive)

    def advantages(self, values: Any, rewards: Any, alive: Any) -> Any:
        """An episode's end is an end: the time that is left is part of what is seen."""
        out, last, after = np.zeros_like(rewards), np.zeros(rewards.shape[1]), np.zeros(rewards.shape[1])
        for t in reversed(range(len(rewards))):
            error = rewards[t] + self.gamma * after * alive[t + 1] - values[t]
            last = error + self.gamma * self.trace * last * alive[t + 1]
            out[t], after = last, values[t]
        return out

    def update(self) -> Dict[str, Any]:
        begun = time.thread_time()
        seen, acts, likelihood, rewards, alive = self.collect()
        simulated = time.thread_time()
        with torch.no_grad():
            values = self.critic(seen)[..., 0].numpy().astype(np.float64)
        gain = self.advantages(values, rewards, alive)
        mask = torch.from_numpy(alive[:-1].reshape(-1))
        back = torch.from_numpy((gain + values).reshape(-1)).float()[mask]
        good = torch.from_numpy(gain.reshape(-1)).float()[mask]
        good = (good - good.mean()) / (good.std() + 1e-8)
        seen, acts, likelihood = seen.flatten(0, 1)[mask], acts.flatten(0, 1)[mask], likelihood.flatten()[mask]
        for _ in range(self.epochs):
            for part in torch.randperm(len(good)).chunk(self.minibatches):
                normal = self._normal(seen[part])
                ratio = (normal.log_prob(acts[part]).sum(-1) - likelihood[part]).exp()
                gained = torch.min(ratio * good[part], ratio.clamp(1 - self.clip, 1 + self.clip) * good[part]).mean()
                error = (self.critic(seen[part])[:, 0] - back[part]).square().mean()
                self.optimizer.zero_grad()
                (0.5 * error - gained).backward()
                torch.nn.utils.clip_grad_norm_(self.parameters, 0.5)
                self.optimizer.step()
        return {
            "return": float(rewards.sum(0).mean()),
            "forward": simulated - begun,
            "backward": time.thread_time() - simulated,
        }

    def train(self, report: Report) -> None:
        while report(self.update()):
            pass


class SAC:
    """steps: updates of the networks per action of all episodes side by side."""

    def __init__(
        self,
        task: Any,
        seed: int = 0,
        rate: float = 1e-3,
        gamma: float = 0.99,
        batch: int = 128,
        capacity: int = 100_000,
        steps: int = 4,
        width: int = 96,
        begin: int = 500,
    ) -> None:
        torch.manual_seed(seed)
        self.random = np.random.default_rng(seed)
        self.task, self.gamma, self.batch, self.steps, self.begin = task, gamma, batch, steps, begin
        self.actor = actor_of(task, 2, width)
        self.critics = [mlp(task.size + task.actions, width, width, 1) for _ in range(4)]  # two, and their slow copies
        for k in (0, 1):
            self.critics[k + 2].load_state_dict(self.critics[k].state_dict())
        self.log_alpha = torch.nn.Parameter(torch.tensor(math.log(0.05)))
        weights = [p for c in self.critics[:2] for p in c.parameters()]
        self.optimizers = [torch.optim.Adam(p, lr=rate) for p in (list(self.actor.parameters()), weights, [self.log_alpha])]
        self.seen, n = Normaliser(task.size), task.size + task.actions + 2 + task.size
        self.memory, self.stored = np.zeros((capacity, n), np.float32), 0

    def __call__(self, observations: Any) -> Any:
        with torch.no_grad():
            mean, _ = self.actor(self.seen(observations, learn=False)).chunk(2, -1)
            return torch.tanh(mean).numpy()

    def _sample(self, seen: Tensor) -> Tuple[Tensor, Tensor]:
        mean, spread = self.actor(seen).chunk(2, -1)
        normal = torch.distributions.Normal(mean, (spread - 1).clamp(-5, 1).exp())
        raw = normal.rsample()
        squashed = 2 * (math.log(2) - raw - torch.nn.functional.softplus(-2 * raw))  # log(1 - tanh^2)
        return torch.tanh(raw), (normal.log_prob(raw) - squashed).sum(-1)

    def _value(self, seen: Tensor, actions: Tensor, first: int) -> Tensor:
        both = torch.cat([seen, actions], -1)
        return torch.stack([self.critics[first + k](both)[:, 0] for k in (0, 1)])

    def _keep(self, seen: Any, actions: Any, rewards: Any, ends: Any, after: Any) -> None:
        rows = np.concatenate([seen, actions, rewards[:, None], ends[:, None], after], 1)
        self.memory[(self.stored + np.arange(len(rows))) % len(self.memory)] = rows
        self.stored += len(rows)

    def learn(self) -> None:
        n, m = self.task.size, self.task.actions
        rows = self.memory[self.random.integers(0, min(self.stored, len(self.memory)), self.batch)]
        seen, after = self.seen(rows[:, :n], learn=False), self.seen(rows[:, -n:], learn=False)
        acts, reward, end = (torch.from_numpy(r) for r in (rows[:, n : n + m], rows[:, n + m], rows[:, n + m + 1]))
        alpha = self.log_alpha.detach().exp()
        with torch.no_grad():
            then, likelihood = self._sample(after)
            back = reward + self.gamma * (1 - end) * (self._value(after, then, 2).min(0)[0] - alpha * likelihood)
        self._step(1, (self._value(seen, acts, 0) - back).square().mean())
        mine, likelihood = self._sample(seen)
        self._step(0, (alpha * likelihood - self._value(seen, mine, 0).min(0)[0]).mean())
        self._step(2, -(self.log_alpha * (likelihood.detach() - 0.5 * m)).mean())  # aims at an entropy of -m / 2
        with torch.no_grad():
            for k in (0, 1):
                for slow, fast in zip(self.critics[k + 2].parameters(), self.critics[k].parameters()):
                    slow.lerp_(fast, 0.01)

    def _step(self, which: int, loss: Tensor) -> None:
        self.optimizers[which].zero_grad()
        loss.backward()
        self.optimizers[which].step()

    def episodes(self) -> Dict[str, Any]:
        """One episode of each, and what is learnt on the way."""
        now, total, alive, learning, begun = self.task.reset(), 0.0, np.ones(self.task.count, bool), 0.0, time.thread_time()
        for t in range(self.task.length):
            with torch.no_grad():
                a = self._sample(self.seen(now))[0].numpy()
            after, r, failed = self.task.step(a)
            ends = (failed | (t + 1 == self.task.length)).astype(float)
            self._keep(now[alive], a[alive], r[alive], ends[alive], after[alive])
            total, now, alive = total + float(r[alive].sum()), after, alive & ~failed
            started = time.thread_time()
            for _ in range(self.steps if self.stored > self.begin else 0):
                self.learn()
            learning += time.thread_time() - started
        return {"return": total / len(alive), "forward": time.thread_time() - begun - learning, "backward": learning}

    def train(self, report: Report) -> None:
        while report(self.episodes()):
            pass


METHODS = {"ppo": PPO, "sac": SAC}
