"""USD files as Pixar's library (usd-core) reads them."""
import numpy as np
import pytest

from cuttle._core import check, ffi, lib

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")


def test_usd_reads_the_motion_back(small_scene, tmp_path):
    from pxr import Usd, UsdGeom

    rollout = small_scene.model().rollout(steps=6)
    rollout.save(tmp_path / "run.h5")
    error, out = ffi.new("ct_error*"), ffi.new("ct_trajectory**")
    check(lib.ct_trajectory_open(out, str(tmp_path / "run.h5").encode(), error), error)
    path = str(tmp_path / "run.usda")
    try:
        check(lib.ct_trajectory_export(out[0], path.encode(), lib.CT_EXPORT_USDA, 0, 6, 1, error), error)
    finally:
        lib.ct_trajectory_close(out[0], ffi.NULL)
    stage = Usd.Stage.Open(path)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (0, 6, 100)
    assert UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    assert [mesh.GetPrim().GetName() for mesh in meshes] == ["beam"]
    mesh = meshes[0]
    counts, indices = mesh.GetFaceVertexCountsAttr().Get(), mesh.GetFaceVertexIndicesAttr().Get()
    assert mesh.GetPointsAttr().GetNumTimeSamples() == 7 and mesh.GetNormalsInterpolation() == "vertex"
    for code in (0, 3, 6):
        points, normals = (np.array(a.Get(code)) for a in (mesh.GetPointsAttr(), mesh.GetNormalsAttr()))
        assert UsdGeom.Mesh.ValidateTopology(indices, counts, len(points))[0]
        assert np.allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
        away = np.linalg.norm(points[:, None] - rollout.positions[code][None], axis=2).min(axis=1)
        assert away.max() < 1e-6
        corners = points[np.array(indices).reshape(-1, 3)]
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (np.einsum("ij,ij->i", faces, normals[np.array(indices)[::3]]) > 0).all()  # outwards, as the faces are
        low, high = np.array(mesh.GetExtentAttr().Get(code))
        assert np.allclose(low, points.min(axis=0)) and np.allclose(high, points.max(axis=0))
