"""PPO and SAC on the scenes of `cuttle experiment`, with tables in its form.

    python3 python/learn/reinforce.py gripper fish octopus -o results --seeds 3 --episodes 500

Writes results/EXPERIMENT/ppo.csv and sac.csv; `cuttle experiment all -o results` puts them into its plots and tables.
SAC stands in for the soft Q-learning of the paper.
"""
import argparse
import os
import time
from typing import Any, Dict

import torch

from rl import METHODS
from tables import GOAL, Table
from tasks import SceneTask

START = {"gripper": 0.3}  # m, that distances count from, where it is not how far the body begins
SIDE_BY_SIDE = {"ppo": 10, "sac": 4}


def run(name: str, method: str, seed: int, episodes: int, directory: str, minutes: float) -> Dict[str, Any]:
    """One search; minutes of CPU time at most."""
    task = SceneTask(name, SIDE_BY_SIDE[method], START.get(name, 0.0))
    learner, table = METHODS[method](task, seed), Table(os.path.join(directory, name, f"{method}.csv"))
    table.begin(seed)
    begun, told = time.process_time(), 0.0
    done = reached = 0

    def report(row: Dict[str, Any]) -> bool:
        nonlocal done, reached, told
        for distance, loss in zip(task.final, task.losses):
            if done == episodes:
                break
            done += 1
            table.add(seed, float(distance), float(loss), row["forward"] / task.count, row["backward"] / task.count)
            if not reached and table.best <= GOAL * task.start:
                reached = done
        used = time.process_time() - begun
        if used - told > 20 or done == episodes:
            told = used
            now = 100 * task.final / task.start
            print(
                f"{name}, {method}, seed {seed}, episode {done}: {now.mean():.1f} % of the start, best "
                f"{100 * table.best / task.start:.2f} %, return {row['return']:.2f}, {used:.0f} s",
                flush=True,
            )
        return done < episodes and used < 60 * minutes and not reached

    learner.train(report)
    return {"episodes": done, "reached": reached, "best": table.best / task.start}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="+", choices=["gripper", "octopus", "fish"])
    parser.add_argument("-o", "--output", default="results")
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=1e9, help="of CPU time for one search, at most")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.experiment:
        for seed in options.seeds:
            for method in options.method:
                print(name, method, seed, run(name, method, seed, options.episodes, options.output, options.minutes), flush=True)


if __name__ == "__main__":
    main()
