"""Tables in the form of `cuttle experiment`, which takes those of DIR/EXPERIMENT/METHOD.csv over into its summary.md."""
import os
from typing import Any, Dict, List, Sequence

HEAD = "seed,episode,distance,loss,best_distance,forward_seconds,backward_seconds,point\n"
GOAL = 0.05  # of the start distance: reached


def _number(value: float) -> str:
    return "nan" if value != value else f"{value:.17g}"


class Table:
    """Rows of one method; those of earlier runs with other seeds stay."""

    def __init__(self, path: str) -> None:
        self.path, self.rows = path, read(path) if os.path.exists(path) else []

    def begin(self, seed: int) -> None:
        """Forgets what there is of a seed."""
        self.rows = [r for r in self.rows if r["seed"] != seed]
        self.best = float("inf")
        self._write()

    def add(self, seed: int, distance: float, loss: float, forward: float, backward: float) -> None:
        """An episode; distance and loss NAN: a step of it did not converge."""
        self.best = min(self.best, distance) if distance == distance else self.best
        episode = 1 + sum(r["seed"] == seed for r in self.rows)
        self.rows.append(
            {"seed": seed, "episode": episode, "distance": distance, "loss": loss, "best_distance": self.best,
             "forward_seconds": forward, "backward_seconds": backward}
        )  # fmt: skip
        with open(self.path, "a") as file:
            file.write(_line(self.rows[-1]))

    def _write(self) -> None:
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        with open(self.path + ".new", "w") as file:
            file.write(HEAD + "".join(_line(r) for r in self.rows))
        os.replace(self.path + ".new", self.path)


def _line(r: Dict[str, Any]) -> str:
    numbers = ",".join(_number(r[k]) for k in ("distance", "loss", "best_distance"))
    return f"{r['seed']},{r['episode']},{numbers},{r['forward_seconds']:.6f},{r['backward_seconds']:.6f},{0:016x}\n"


def read(path: str) -> List[Dict[str, Any]]:
    names = HEAD.strip().split(",")
    with open(path) as file:
        lines = [line.strip().split(",") for line in file if line != HEAD and line.endswith("\n")]
    kinds: Sequence[Any] = [int, int, float, float, float, float, float]
    return [{n: kind(word) for n, kind, word in zip(names, kinds, line)} for line in lines if len(line) == len(names)]
