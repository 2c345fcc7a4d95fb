"""Pages of motions, and scenes that are simulated while one looks."""
import html
import os
import pathlib
import re
import socket
import stat
import urllib.error
import urllib.request

import pytest

import cuttle
from cuttle._core import lib

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "cuttle"
needs_viewer = pytest.mark.skipif(not lib.ct_page_available(), reason="this build has no viewer")


@needs_viewer
def test_rollout_is_a_page_in_a_frame(small_scene, tmp_path):
    page = small_scene.model().rollout(steps=5).view(fields="velocity", height=300)
    data = re.search(r'<script type="application/cuttle"[^>]*>([^<]+)<', page.html)
    assert page.html.startswith("<!doctype html>") and data and len(data.group(1)) > 500
    frame = page._repr_html_()
    assert "height:300px" in frame
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame).group(1)) == page.html
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(cuttle.BadArgument, match="heat"):
        small_scene.model().rollout(steps=1).view(fields="heat")


@needs_viewer
def test_problem_at_a_point_is_a_page():
    problem = cuttle.Problem("identify")
    page = problem.view(problem.start)
    assert 'type="application/cuttle"' in page.html


def build_has_server():
    if not PROGRAM.exists():
        return False
    return b"libwebsockets" in PROGRAM.read_bytes()


@pytest.mark.skipif(not build_has_server() or not lib.ct_page_available(), reason="no program with a live server")
def test_problem_is_live_until_stopped(monkeypatch):
    monkeypatch.setenv("CUTTLE", str(PROGRAM))
    with cuttle.Problem("identify").view() as live:
        assert re.match(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$", live.address) and live.running
        assert f'src="{live.address}"' in live._repr_html_()
        with urllib.request.urlopen(live.address, timeout=20) as answer:
            assert "application/cuttle-live" in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(live.address[:-3] + "00/", timeout=20)
        port = int(live.address.split(":")[2].split("/")[0])
    assert not live.running and not os.path.exists(live.file)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), 2).close()


def test_live_says_what_is_missing(small_scene, tmp_path, monkeypatch):
    monkeypatch.delenv("CUTTLE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(cuttle.Error, match="CUTTLE"):
        small_scene.view()
    fake = tmp_path / "cuttle"
    fake.write_text('#!/bin/sh\necho "{\\"error\\": {\\"message\\": \\"this build cannot show scenes live\\"}}"; exit 1\n')
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(cuttle.Error, match="cannot show scenes live"):
        small_scene.view()
