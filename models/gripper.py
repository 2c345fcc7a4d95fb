#!/usr/bin/env python3
"""Writes gripper.msh: a palm, four arms that arch over a ball of radius 0.1 m about the origin, and a pad at each fingertip; or the frame
that carries it, four booms with a plate at their ends.

An arm is a quarter of an arch around the origin. Its inner layer is a strip that hardly stretches, its outer layer a row of 14
cells with a fold between them: cells that grow bend the arm inwards. The pads end at the height of the ball's centre, with an
upright face: what they hold they hold by friction, not from below.

The mesh is laid out by hand: hexahedral blocks on one index lattice, i and k across the palm and on along the arms, j upwards
or outwards, each cut into five tets whose pattern alternates with the parity of i + j + k, so that neighbours fit.

Usage: python3 models/gripper.py > models/gripper.msh; python3 models/gripper.py frame > models/gripper_frame.msh
"""
import math
import sys

import msh

CELLS = 14                            # of an arm, two blocks each
LENGTH = 1 + 2 * CELLS                # blocks of an arm; the first belongs to the palm
PAD = 4                               # blocks of an arm's end that carry a pad
PALM = 0.05                           # m, half its width
TOP = 0.178                           # m, upper side of the palm
STRIP, CELL, FOLD, CREST = 0.125, 0.14, 0.156, 0.173  # m, radii: inner side of strip and cells, outer side at folds and crests
FACE = 0.1022                         # m, from the axis to the faces of the pads
ROOT, TIP = 0.027, 0.02               # m, half the width of an arm
HUB = 0.02                            # m, thickness of the frame
BOOM = ((PALM, 0.016), (0.13, 0.012), (0.17, 0.05), (0.27, 0.05))  # m, the frame's booms: from the axis, half their width
START = math.asin(PALM / CELL)        # angle from the vertical where the arms begin; they end at 90 degrees

nodes, tets = {}, []


def section(s, level):
    """Place in the plane of an arm, (out, up), after s blocks: level 0 face of the pad, 1 and 2 the strip's sides, 3 the outside, 4 top of
    the palm and lower side of the frame, 5 its upper side."""
    if level == 5 or (level == 4 and s):
        return BOOM[s][0], TOP + HUB * (level - 4)
    angle = START + (math.pi / 2 - START) * s / LENGTH
    crest = 1 < s < LENGTH and s % 2 == 0
    radius = (STRIP, STRIP, CELL, CREST if crest else FOLD, TOP)[level]
    out, up = radius * math.sin(angle), radius * math.cos(angle)
    if s == 0:
        return min(PALM, out), TOP if level == 4 else up
    return (FACE, up) if level == 0 else (out, up)


def across(index):
    """A palm's column 0..4, or an arm's blocks beyond it: (side, blocks along the arm)."""
    return (-1, -index) if index < 0 else (1, index - 4) if index > 4 else (0, 0)


def place(i, j, k):
    (side_x, s), (side_z, t) = across(i), across(k)
    if side_x or side_z:
        s, column = (s, k - 2) if side_x else (t, i - 2)
        out, up = section(s, j)
        wide = column * (BOOM[s][1] if j > 3 else ROOT + (TIP - ROOT) * s / LENGTH)
        return (side_x * out, up, wide) if side_x else (wide, up, side_z * out)
    edge, up = section(0, j)
    columns = (-edge, -ROOT, 0, ROOT, edge)
    return columns[i], up, columns[k]


def node(i, j, k):
    return nodes.setdefault(tuple(round(c, 6) + 0.0 for c in place(i, j, k)), len(nodes) + 1)


def block(i, j, k, tag):
    corner = [node(i + a, j + b, k + c) for c in (0, 1) for b in (0, 1) for a in (0, 1)]
    flip = 7 if (i + j + k) % 2 else 0
    for tet in ((0, 3, 5, 6), (1, 3, 5, 0), (2, 3, 0, 6), (4, 5, 6, 0), (7, 6, 5, 3)):
        tets.append((tag, [corner[v ^ flip] for v in tet]))


def arms(length):
    """Blocks of the four arms or booms: (arm, blocks before it, i, k)."""
    for arm in range(4):
        for s in range(length):
            along = 4 + s if arm < 2 else -1 - s
            for column in (1, 2):
                yield (arm, s, along, column) if arm % 2 == 0 else (arm, s, column, along)


frame = sys.argv[1:] == ["frame"]
names = ["frame"] if frame else [f"cell{n}" for n in range(1, 4 * CELLS + 1)] + ["strip", "pad", "palm"]
tag_of = {name: n for n, name in enumerate(names, 1)}

for i in range(4):
    for k in range(4):
        for j in (4,) if frame else (1, 2, 3):
            block(i, j, k, tag_of["frame" if frame else "palm"])
for arm, s, i, k in arms(len(BOOM) - 1 if frame else LENGTH):
    if frame:
        block(i, 4, k, tag_of["frame"])
        continue
    block(i, 1, k, tag_of["strip" if s else "palm"])
    block(i, 2, k, tag_of[f"cell{arm * CELLS + (s + 1) // 2}" if s else "palm"])
    if s >= LENGTH - PAD:
        block(i, 0, k, tag_of["pad"])

msh.write(names, list(nodes), [(tag, [v - 1 for v in tet]) for tag, tet in tets])
