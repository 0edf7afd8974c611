"""Being stopped from outside is not success, and loses nothing."""

import json
import signal
import time

import pytest


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stopped_run_says_so_and_goes_on(smoke, sent, code):
    endless = ["trainer.max_samples=4000000", "method.schedule.min_target=1.0"]
    process = smoke.start(*endless)
    while not (smoke.folder / "checkpoints" / "last.ckpt").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    process.send_signal(sent)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in said
    status = json.loads((smoke.folder / "status.json").read_text())
    assert status["state"] == "preempted"
    assert "the same command" in status["message"]
    assert "the same command" in said
