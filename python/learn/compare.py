"""PPO and SAC learn what analytic.py learns, with the same network, in the same CPU time.

    python3 python/learn/compare.py -o results/swim --minutes 6

Writes results/swim/METHOD_SEED.json and, of all that there are, swim.md.
"""
import argparse
import glob
import json
import os
import time
from typing import Any, Dict, List

import numpy as np
import torch

from rl import METHODS
from swim import NEAR, Body, exam, report
from tasks import SwimPolicy, SwimTask

SIDE_BY_SIDE = {"ppo": 8, "sac": 4}
TITLES = {"analytic": "analytic policy gradient", "ppo": "PPO", "sac": "SAC"}


def learn(body: Body, method: str, seed: int, minutes: float) -> Dict[str, Any]:
    task = SwimTask(body, SIDE_BY_SIDE[method], seed)
    learner = METHODS[method](task, seed)
    begun, rows = time.process_time(), []  # type: float, List[Any]

    def keep(row: Dict[str, Any]) -> bool:
        row.update(seconds=time.process_time() - begun, distance=float(task.far.mean()))
        rows.append(row)
        print(f"{method} {seed}: {row['seconds']:.0f} s, return {row['return']:.2f}, distance {row['distance']:.3f}", flush=True)
        return bool(row["seconds"] < 60 * minutes)

    policy = SwimPolicy(task, learner)
    before = exam(body, policy)
    learner.train(keep)
    after = exam(body, policy)
    print(f"{method} {seed}: still water:", report(after[0]), "| currents:", report(after[1]), flush=True)
    return {"rows": rows, "before": [e.tolist() for e in before], "after": [e.tolist() for e in after]}


def summary(directory: str) -> str:
    """A table of what every method came to."""
    lines = [
        f"| method | seeds | CPU time, min | episodes | within {NEAR} m at the end, still water | in currents | "
        "distance at the end, m, still water | in currents |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for method, title in TITLES.items():
        runs = [json.load(open(path)) for path in sorted(glob.glob(os.path.join(directory, f"{method}_*.json")))]
        for when in ("before", "after") if runs else ():
            if when == "before" and method != "analytic":
                continue
            parts = [np.concatenate([np.array(run[when][k]) for run in runs]) for k in (0, 1)]
            minutes = np.mean([run["rows"][-1]["seconds"] for run in runs]) / 60
            episodes = np.mean([run.get("episodes") or SIDE_BY_SIDE.get(method, 0) * len(run["rows"]) for run in runs])
            near = [f"{100 * np.mean(p[:, 1] < NEAR):.0f} %" for p in parts]
            far = [f"{np.nanmean(p[:, 1]):.3f}" for p in parts]
            what = "before training" if when == "before" else title
            cost = ["", ""] if when == "before" else [f"{minutes:.1f}", f"{episodes:.0f}"]
            lines.append(f"| {what} | {len(runs)} | {' | '.join(cost + near + far)} |")
        if not runs:
            lines.append(f"| {title} | missing: `{directory}/{method}_SEED.json` | | | | | | |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="results/swim")
    parser.add_argument("--method", nargs="*", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--minutes", type=float, default=6, help="of CPU time, for each")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(options.output, exist_ok=True)
    body = Body()
    for seed in options.seeds:
        for method in options.method:
            result = learn(body, method, seed, options.minutes)
            with open(os.path.join(options.output, f"{method}_{seed}.json"), "w") as file:
                json.dump(result, file)
    with open(os.path.join(options.output, "swim.md"), "w") as file:
        file.write(summary(options.output))
    print(summary(options.output))


if __name__ == "__main__":
    main()
