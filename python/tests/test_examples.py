"""The examples run, hold what they assert, and draw their pictures."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    for name in set(re.findall(r"^import (torch|jax|scipy)\b", path.read_text(), re.MULTILINE)):
        pytest.importorskip(name)
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{path.stem}.png").stat().st_size > 1000
