"""MLS-MPM (Hu et al. 2018) beside `cuttle experiment humanoid` and `cloth`: rows of their tables.

    pip install taichi; python3 python/learn/mpm.py humanoid cloth -o results

The same bodies, materials and starts, as particles that exchange momentum over a grid (APIC, quadratic weights):

    p -> g   m v_g += w (m v + (m C - dt 4/dx^2 V P(F) F^T)(x_g - x))     P(F) F^T = mu (F F^T - 1) + lambda ln(J)
    g        v_g += dt gravity; ground, pins
    g -> p   v = sum w v_g,  C = 4/dx^2 sum w v_g (x_g - x)^T,  F <- (1 + dt C) F

Explicit: dt is bound by the speed of sound and the grid, so that many substeps make one step of the scene, and it is the time of
these that the table has. No bones and no torques; sheets are a layer of particles of their thickness, no shells; contact is
what the grid does, without a friction law of its own. The measures are those of the experiments, on particles that sit at the
nodes of the meshes.
"""
import argparse
import os
import time
from typing import Any, Callable, Dict, List, Tuple

import numpy as np
import taichi as ti

import cuttle

Array = Any


def uniform(start: int, index: int) -> float:
    """The number that the experiment takes for a start, in [-1, 1]."""
    mask = (1 << 64) - 1
    z = (start * 0x9E3779B97F4A7C15 + (index + 1) * 0xD1B54A32D192ED03) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return 2 * (((z ^ (z >> 31)) >> 11) / 9007199254740992.0) - 1


def fill(x: Array, tets: Array, count: int, seed: int = 0) -> Array:
    """Points in tets, evenly by volume."""
    random, corner = np.random.default_rng(seed), x[tets]
    volume = np.abs(np.linalg.det(corner[:, 1:] - corner[:, :1])) / 6
    chosen = corner[random.choice(len(tets), count, p=volume / volume.sum())]
    share = random.dirichlet(np.ones(4), count)
    return np.einsum("pk,pki->pi", share, chosen)


def lame(young: float, poisson: float) -> Tuple[float, float]:
    return young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))


@ti.data_oriented
class Grid:
    """Particles and their grid; materials (mu, lambda) and masses per particle."""

    def __init__(
        self, x: Array, v: Array, volume: Array, density: Array, stiffness: Array, dx: float, gravity: float, room: float = 0.6
    ) -> None:  # room: of the grid around the start, m
        n = len(x)
        self.dx, self.gravity = dx, gravity
        low, high = x.min(0) - room, x.max(0) + room
        self.low = ti.Vector([float(k) for k in low])
        self.shape = tuple(int(k) for k in np.ceil((high - low) / dx))
        speed = np.sqrt(((2 * stiffness[:, 0] + stiffness[:, 1]) / density).max())
        self.dt = 0.25 * dx / float(speed)
        self.x, self.v = ti.Vector.field(3, ti.f32, n), ti.Vector.field(3, ti.f32, n)
        self.c, self.f = ti.Matrix.field(3, 3, ti.f32, n), ti.Matrix.field(3, 3, ti.f32, n)
        self.volume, self.mass = ti.field(ti.f32, n), ti.field(ti.f32, n)
        self.stiff = ti.Vector.field(2, ti.f32, n)
        self.gv, self.gm = ti.Vector.field(3, ti.f32, self.shape), ti.field(ti.f32, self.shape)
        self.pin = ti.field(ti.i32, self.shape)
        for field, value in ((self.x, x), (self.v, v), (self.stiff, stiffness), (self.volume, volume)):
            field.from_numpy(np.ascontiguousarray(value, np.float32))
        self.mass.from_numpy((volume * density).astype(np.float32))
        self.f.from_numpy(np.tile(np.eye(3, dtype=np.float32), (n, 1, 1)))
        self.ground = -1e9

    def pin_near(self, places: Array, radius: float) -> None:
        index = np.stack(np.meshgrid(*(np.arange(k) for k in self.shape), indexing="ij"), -1)
        at = np.array(self.low) + self.dx * index
        near = np.zeros(self.shape, bool)
        for place in places:
            near |= np.linalg.norm(at - place, axis=-1) < radius
        self.pin.from_numpy(near.astype(np.int32))

    @ti.kernel
    def substep(self, dt: ti.f32, ground: ti.f32, friction: ti.f32):  # type: ignore
        inv = 1.0 / self.dx
        for g in ti.grouped(self.gm):
            self.gm[g] = 0.0
            self.gv[g] = ti.Vector([0.0, 0.0, 0.0])
        for p in self.x:
            u = (self.x[p] - self.low) * inv
            base = ti.cast(u - 0.5, ti.i32)
            fx = u - ti.cast(base, ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            self.f[p] = (ti.Matrix.identity(ti.f32, 3) + dt * self.c[p]) @ self.f[p]
            f = self.f[p]
            volume = ti.max(f.determinant(), 0.05)
            stress = self.stiff[p][0] * (f @ f.transpose() - ti.Matrix.identity(ti.f32, 3))
            stress += self.stiff[p][1] * ti.log(volume) * ti.Matrix.identity(ti.f32, 3)
            affine = self.mass[p] * self.c[p] - (dt * self.volume[p] * 4 * inv * inv) * stress
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                away = (ti.Vector([i, j, k]).cast(ti.f32) - fx) * self.dx
                weight = w[i][0] * w[j][1] * w[k][2]
                g = base + ti.Vector([i, j, k])
                self.gv[g] += weight * (self.mass[p] * self.v[p] + affine @ away)
                self.gm[g] += weight * self.mass[p]
        for g in ti.grouped(self.gm):
            if self.gm[g] > 0.0:
                v = self.gv[g] / self.gm[g]
                v[1] -= dt * self.gravity
                if self.low[1] + self.dx * g[1] < ground and v[1] < 0.0:  # Coulomb
                    along = ti.Vector([v[0], 0.0, v[2]])
                    slip = along.norm()
                    v = along * ti.max(0.0, 1.0 + friction * v[1] / ti.max(slip, 1e-9))
                if self.pin[g] != 0:
                    v = ti.Vector([0.0, 0.0, 0.0])
                self.gv[g] = v
        for p in self.x:
            u = (self.x[p] - self.low) * inv
            base = ti.cast(u - 0.5, ti.i32)
            fx = u - ti.cast(base, ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            v = ti.Vector([0.0, 0.0, 0.0])
            c = ti.Matrix.zero(ti.f32, 3, 3)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                away = (ti.Vector([i, j, k]).cast(ti.f32) - fx) * self.dx
                weight = w[i][0] * w[j][1] * w[k][2]
                gv = self.gv[base + ti.Vector([i, j, k])]
                v += weight * gv
                c += 4 * inv * inv * weight * gv.outer_product(away)
            self.v[p], self.c[p] = v, c
            self.x[p] += dt * v

    def step(self, seconds: float, friction: float) -> float:
        """On by that time; the CPU time that it took."""
        count = int(np.ceil(seconds / self.dt))
        begun = time.process_time()
        for _ in range(count):
            self.substep(seconds / count, self.ground, friction)
        ti.sync()
        return time.process_time() - begun


def run(grid: Grid, nodes: int, steps: int, friction: float, look: Callable[[int, Array], None]) -> Tuple[float, str]:
    """ms per step of the scene, and why it failed."""
    grid.substep(0.0, grid.ground, friction)  # compiled
    seconds = 0.0
    look(0, grid.x.to_numpy()[:nodes].astype(float))
    for k in range(steps):
        seconds += grid.step(0.01, friction)
        x = grid.x.to_numpy()
        inside = (x > np.array(grid.low) + 2 * grid.dx) & (x < np.array(grid.low) + grid.dx * (np.array(grid.shape) - 3))
        if not inside.all():
            return 1e3 * seconds / (k + 1), f"step {k + 1}: particles left the grid"
        look(k + 1, x[:nodes].astype(float))
    return 1e3 * seconds / steps, ""


# ---- the humanoid ------------------------------------------------------------------------------

RAISED, HEAD, SOLE, WINDOW = 0.95, 1.66, 0.06, 0.2


class Humanoid:
    """Measures of `cuttle experiment humanoid`."""

    names, steps, columns = ("torso", "left_arm", "right_arm", "left_leg", "right_leg"), 100, "bone,body,joint,episodes"

    def __init__(self) -> None:
        self.model = cuttle.load("humanoid_y").model(threads=1)
        self.rest, self.document = np.array(self.model.rest), self.model.scene.to_dict()
        self.ends: List[Tuple[Array, Array]] = []
        links = {link["name"]: link["nodes"]["capsule"] for link in self.document["skeletons"][0]["links"]}
        for name in self.names:
            a, b, radius = np.array(links[name]["a"]), np.array(links[name]["b"]), links[name]["radius"]
            t = np.clip((self.rest - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            held = np.flatnonzero(np.linalg.norm(self.rest - a - t[:, None] * (b - a), axis=1) <= radius)
            along = self.rest[held] @ (b - a)
            share = (along - along.min()) / (along.max() - along.min())
            self.ends.append((held[share <= 0.25], held[share >= 0.75]))
        self.ends.append((np.flatnonzero(self.rest[:, 1] < SOLE), np.flatnonzero(self.rest[:, 1] > HEAD)))
        self.lengths, self.angles = self.see(self.rest)

    def see(self, x: Array) -> Tuple[Array, Array]:
        """Lengths of the bones and of the body; angles between arms and spine."""
        way = np.array([x[b].mean(0) - x[a].mean(0) for a, b in self.ends])
        length = np.linalg.norm(way, axis=1)
        way /= length[:, None]
        return length, np.arccos(np.clip([way[0] @ way[1], way[0] @ way[2]], -1, 1))

    def start(self, start: int, dx: float) -> Tuple[Grid, int, float]:
        material = self.document["bodies"][0]["material"]
        x, tets = self.rest, np.array(self.model.tetrahedra)
        volume = np.abs(np.linalg.det(x[tets][:, 1:] - x[tets][:, :1])).sum() / 6
        points = np.concatenate([x, fill(x, tets, int(8 * volume / dx**3))])
        height = 0.15 + 0.05 * uniform(start, 0)
        v = [0.2 * uniform(start, 1), 0.3 * uniform(start, 2), 0.2 * uniform(start, 3)]
        spin = [0.1 * uniform(start, k) for k in (4, 5, 6)]
        n = len(points)
        velocity = np.array(v) + np.cross(spin, points - points.mean(0))
        stiff = np.tile(lame(material["young"], material["poisson"]), (n, 1))
        grid = Grid(points, velocity, np.full(n, volume / n), np.full(n, material["density"]), stiff, dx, 9.81, 1.6)
        grid.ground = -height
        return grid, len(x), 0.5

    def measure(self) -> Tuple[Callable[[int, Array], None], Callable[[], List[float]]]:
        bone, body, joint = [0.0], [], []  # type: Any

        def look(step: int, x: Array) -> None:
            length, angle = self.see(x)
            change = np.abs(length / self.lengths - 1)
            bone[0] = max(bone[0], change[:-1].max())
            body.append(change[-1])
            if step * 0.01 >= 1 - WINDOW - 1e-9:
                joint.append(np.abs(angle - (self.angles - RAISED)).sum())

        return look, lambda: [bone[0], float(np.mean(body)), float(np.mean(joint)) if joint else float("nan"), float("nan")]


# ---- ball and cloth ----------------------------------------------------------------------------


def winding(points: Array, triangles: Array) -> Array:
    """Solid angle of the triangles (t, 3, 3) seen from the points."""
    r = triangles[None] - points[:, None, None]
    length = np.linalg.norm(r, axis=-1)
    above = np.einsum("pti,pti->pt", r[:, :, 0], np.cross(r[:, :, 1], r[:, :, 2]))
    below = length.prod(-1)
    for k in range(3):
        below += np.einsum("pti,pti->pt", r[:, :, k], r[:, :, (k + 1) % 3]) * length[:, :, (k + 2) % 3]
    return np.abs((2 * np.arctan2(above, below)).sum(1))


class Cloth:
    """Measures of `cuttle experiment cloth`."""

    steps, columns = 100, "penetration,compression,widening,stretch"

    def __init__(self) -> None:
        self.model = cuttle.load("ball_sheet").model(threads=1)
        self.rest, self.document = np.array(self.model.rest), self.model.scene.to_dict()
        self.sheet, self.ball = ({b["name"]: b for b in self.document["bodies"]}[n] for n in ("sheet", "ball"))
        self.tets = np.array(self.model.tetrahedra)
        solid = np.unique(self.tets)
        surface = np.array(self.model.surface)
        self.shell = surface[np.isin(surface, solid).all(1)]
        self.flat = np.setdiff1d(np.arange(len(self.rest)), solid)
        self.triangles = self._triangles()

    def _triangles(self) -> Array:
        """Of the sheet: 20 x 20 cells, cut along a diagonal."""
        x = self.rest[self.flat]
        order = self.flat[np.lexsort((np.round(x[:, 0], 6), np.round(x[:, 2], 6)))].reshape(21, 21)
        a, b, c, d = order[:-1, :-1].ravel(), order[:-1, 1:].ravel(), order[1:, :-1].ravel(), order[1:, 1:].ravel()
        return np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])

    def start(self, start: int, dx: float) -> Tuple[Grid, int, float]:
        shift = np.array([(0.05 if k == 1 else 0.08) * uniform(start, k) for k in range(3)])
        throw = np.array(self.ball["velocity"]) + [0.5 * uniform(start, 3 + k) for k in range(3)]
        x = self.rest.copy()
        solid = np.unique(self.tets)
        x[solid] += shift
        volume = np.abs(np.linalg.det(x[self.tets][:, 1:] - x[self.tets][:, :1])).sum() / 6
        inner = fill(x, self.tets, int(8 * volume / dx**3))
        n = int(3 / dx)  # three in a cell
        u = (np.arange(n) + 0.5) / n - 0.5
        layer = np.stack([g.ravel() for g in np.meshgrid(u, [x[self.flat, 1].mean()], u)], -1)
        points = np.concatenate([x, inner, layer])
        soft = np.zeros(len(points), bool)
        soft[solid] = True
        soft[len(x) : len(x) + len(inner)] = True
        thickness = self.sheet["material"]["thickness"]
        size = np.where(soft, volume / soft.sum(), thickness / (~soft).sum())
        stiff = np.empty((len(points), 2))
        density = np.empty(len(points))
        for which, body in ((soft, self.ball), (~soft, self.sheet)):
            stiff[which] = lame(body["material"]["young"], body["material"]["poisson"])
            density[which] = body["material"]["density"]
        grid = Grid(points, np.where(soft[:, None], throw, 0.0), size, density, stiff, dx, 9.81)
        grid.pin_near([(sx, 0, sz) for sx in (-0.5, 0.5) for sz in (-0.5, 0.5)], max(0.06, 2 * dx))
        return grid, len(x), 0.0

    def measure(self) -> Tuple[Callable[[int, Array], None], Callable[[], List[float]]]:
        worst = dict(penetration=0.0, compression=0.0, widening=0.0, stretch=0.0)
        corner = self.shell.ravel()
        share = np.array([(1 - (i + j) / 4, i / 4, j / 4) for i in range(5) for j in range(5 - i)])
        first: Dict[str, Array] = {}

        def look(step: int, x: Array) -> None:
            radius = np.linalg.norm(x[corner] - x[corner].mean(0), axis=1)
            edges = np.concatenate([x[self.triangles[:, k]] - x[self.triangles[:, (k + 1) % 3]] for k in range(3)])
            length = np.linalg.norm(edges, axis=1)
            if not first:
                first.update(radius=radius, length=length)
            worst["compression"] = max(worst["compression"], float((1 - radius / first["radius"]).max()))
            worst["widening"] = max(worst["widening"], float((radius / first["radius"] - 1).max()))
            worst["stretch"] = max(worst["stretch"], float((length / first["length"] - 1).max()))
            points = np.unique(np.einsum("sk,tki->tsi", share, x[self.triangles]).reshape(-1, 3).round(9), axis=0)
            low, high = x[corner].min(0), x[corner].max(0)
            near = points[((points >= low) & (points <= high)).all(1)]
            if len(near):
                inside = near[winding(near, x[self.shell]) > 2 * np.pi]
                if len(inside):  # from the nearest corner or middle of a triangle, or its plane: an upper bound of the depth
                    worst["penetration"] = max(worst["penetration"], float(depth(inside, x[self.shell]).max()))

        return look, lambda: list(worst.values())


def depth(points: Array, triangles: Array) -> Array:
    """Distance of points from the nearest of triangles."""
    best = np.full(len(points), np.inf)
    for a, b, c in triangles:
        n = np.cross(b - a, c - a)
        inside = np.ones(len(points), bool)
        near = np.full(len(points), np.inf)
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= np.cross(q - p, points - p) @ n >= 0
            t = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
            near = np.minimum(near, np.linalg.norm(points - p - t[:, None] * (q - p), axis=1))
        best = np.minimum(best, np.where(inside, np.abs((points - a) @ n) / np.linalg.norm(n), near))
    return best


# ---- all ---------------------------------------------------------------------------------------

KINDS: Dict[str, Tuple[Any, float]] = {"humanoid": (Humanoid, 0.06), "cloth": (Cloth, 0.025)}  # and the grid's cells, m


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="+", choices=list(KINDS))
    parser.add_argument("-o", "--output", default="results")
    parser.add_argument("--seeds", type=int, default=5, help="starts")
    parser.add_argument("--steps", type=int, default=0, help="of 0.01 s, fewer than the scene's")
    parser.add_argument("--cell", type=float, default=0.0, help="of the grid, m")
    options = parser.parse_args()
    ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.WARN)
    for name in options.experiment:
        kind, dx = KINDS[name]
        task, lines = kind(), [f"rival,start,{kind.columns},ms,frame,scene,failure\n"]
        os.makedirs(os.path.join(options.output, name), exist_ok=True)
        for start in range(1, options.seeds + 1):
            look, values = task.measure()
            grid, nodes, friction = task.start(start, options.cell or dx)
            ms, failure = run(grid, nodes, options.steps or task.steps, friction, look)
            numbers = ",".join("nan" if v != v else f"{v:.9g}" for v in values())
            lines.append(f"mpm,{start},{numbers},{ms:.6g},0,{0:016x},{failure}\n")
            particles, substeps = grid.x.shape[0], int(np.ceil(0.01 / grid.dt))
            print(f"{name}: {lines[-1].strip()}  ({particles} particles, {substeps} substeps)", flush=True)
            with open(os.path.join(options.output, name, "mpm.csv"), "w") as file:
                file.writelines(lines)


if __name__ == "__main__":
    main()
