"""Writes tetrahedral meshes as Gmsh 2.2 files, which the generators of this directory share."""


def oriented(tet, nodes):
    """The tet with positive volume; its nodes count from 0."""
    a, b, c, d = (nodes[v] for v in tet)
    u, v, w = ([q[n] - a[n] for n in range(3)] for q in (b, c, d))
    volume = sum(w[n] * (u[n - 2] * v[n - 1] - u[n - 1] * v[n - 2]) for n in range(3))
    return tet if volume > 0 else [tet[0], tet[2], tet[1], tet[3]]


def write(names, nodes, tets, number="{}"):
    """To stdout. names: of the tags, from 1; nodes: coordinates; tets: (tag, four nodes that count from 0)."""
    print(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(names)}")
    for tag, name in enumerate(names, 1):
        print(f'3 {tag} "{name}"')
    print(f"$EndPhysicalNames\n$Nodes\n{len(nodes)}")
    for n, place in enumerate(nodes, 1):
        print(n, *(number.format(x) for x in place))
    print(f"$EndNodes\n$Elements\n{len(tets)}")
    for n, (tag, tet) in enumerate(tets, 1):
        print(n, 4, 2, tag, tag, *(v + 1 for v in oriented(tet, nodes)))
    print("$EndElements")
