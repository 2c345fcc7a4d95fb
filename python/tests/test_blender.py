"""glTF and USD files as Blender reads them (PyPI's bpy, where it is installed)."""
import numpy as np
import pytest

from cuttle._core import check, ffi, lib

bpy = pytest.importorskip("bpy", reason="bpy, Blender as a module, is not installed")
STEPS, RATE = 6, 100


def shown(body, frame):
    """The vertices that Blender has at a frame of its own, z up there and y up in the scene."""
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    m = np.array(evaluated.matrix_world)
    x = x.reshape(-1, 3) @ m[:3, :3].T + m[:3, 3]
    return np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1)


@pytest.mark.parametrize("ending", ["glb", "usda"])
def test_blender_shows_the_motion(small_scene, tmp_path, ending):
    rollout = small_scene.model().rollout(steps=STEPS)
    rollout.save(tmp_path / "run.h5")
    path = str(tmp_path / f"run.{ending}")
    error, out = ffi.new("ct_error*"), ffi.new("ct_trajectory**")
    check(lib.ct_trajectory_open(out, str(tmp_path / "run.h5").encode(), error), error)
    try:
        form = lib.CT_EXPORT_GLB if ending == "glb" else lib.CT_EXPORT_USDA
        check(lib.ct_trajectory_export(out[0], path.encode(), form, 0, STEPS, 1, error), error)
    finally:
        lib.ct_trajectory_close(out[0], ffi.NULL)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    (bpy.ops.import_scene.gltf if ending == "glb" else bpy.ops.wm.usd_import)(filepath=path)
    scene = bpy.context.scene
    (body,) = (thing for thing in bpy.data.objects if thing.type == "MESH")
    per_step = scene.render.fps / scene.render.fps_base / RATE if ending == "glb" else 1
    if ending == "glb":
        assert len(body.data.shape_keys.key_blocks) == STEPS + 1
    else:
        assert (scene.frame_start, scene.frame_end) == (0, STEPS)
    start = shown(body, 0)
    node = np.linalg.norm(start[:, None] - rollout.positions[0][None], axis=2).argmin(axis=1)
    size = np.ptp(rollout.positions[0], axis=0).max()
    for k in (0, 1, 3, STEPS):
        assert np.abs(shown(body, k * per_step) - rollout.positions[k][node]).max() < 1e-6 * size
    assert np.abs(rollout.positions[STEPS] - rollout.positions[0]).max() > 1e-4 * size
