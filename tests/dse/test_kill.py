"""Kill -9 at random moments: no finished trial is lost, and the study always resumes."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from dse.run.studies.storage import journal
from tests.dse.commands import begin_exploring, end, kept, statuses

optuna = pytest.importorskip("optuna")
WORDS = ["--strategy", "random", "--dsp", "200"]


def trials_of(folder: Path):
    storage = journal(folder / "study.journal")
    return optuna.load_study(study_name="weft", storage=storage).trials


def told(folder: Path) -> set[str]:
    """Keys of the designs in the study that have figures."""
    return {t.user_attrs["design"]["key"] for t in trials_of(folder) if t.values is not None}


def killed(folder: Path, rounds: int, seed: int, *words: str) -> None:
    """Kill the exploration again and again: while it starts, resumes, writes or evaluates."""
    rng = random.Random(seed)
    before: set[str] = set()
    for n in range(rounds):
        process = begin_exploring(
            folder, *WORDS, "--trials", "100000", *words, *(["--resume"] if folder.exists() else [])
        )
        if rng.random() < 0.3:  # at any moment, be it before there is anything
            time.sleep(rng.random() * 6)
        else:  # at work
            aim, deadline = len(before) + rng.randint(1, 4), time.monotonic() + 120
            while len(kept(folder)) < aim and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.005)
            time.sleep(rng.random() / 20)
        assert process.poll() is None, f"round {n}: {end(process)}"
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        now = kept(folder) if folder.exists() else set()
        assert before <= now, f"round {n} lost a result"
        before = now
    count = len(trials_of(folder)) + 4
    code, _, err = end(begin_exploring(folder, *WORDS, "--trials", str(count), *words, "--resume"))
    assert code in (0, 3), err
    trials = trials_of(folder)
    assert all(trial.state.is_finished() for trial in trials)
    assert before <= told(folder)
    assert sum("status" in t.user_attrs for t in trials) == count
    assert statuses(folder)


def test_none_is_lost_with_processes_of_its_own(tmp_path):
    killed(tmp_path / "run", 1, 2, "--jobs", "2")


@pytest.mark.slow
def test_no_finished_trial_is_lost_to_many_kills(tmp_path):
    killed(tmp_path / "run", 3, 3)


def test_one_interruption_saves_and_stops(tmp_path):
    folder = tmp_path / "run"
    process = begin_exploring(folder, *WORDS, "--trials", "100000")
    while len(kept(folder)) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    code, out, err = end(process)
    assert code == 130
    assert "stopping after the evaluations under way" in err
    assert "latency" in out
    last = (folder / "events.jsonl").read_text().splitlines()[-1]
    assert '"event": "stopped"' in last
    assert kept(folder) <= {t.user_attrs.get("design", {}).get("key") for t in trials_of(folder)}


def test_two_interruptions_stop_at_once_and_the_study_resumes(tmp_path):
    folder = tmp_path / "run"
    words = ["--strategy", "pom", "--dsp", "40", "--promote", "csim", "--promote-most", "1"]
    slow = tmp_path / "slow-g++"
    slow.write_text(
        '#!/bin/sh\nfor word; do [ "$word" = --version ] && exec g++ --version; done\n'
        f"touch {tmp_path}/compiling\nsleep 60\n"
    )
    slow.chmod(0o755)
    process = begin_exploring(folder, *words, CXX=str(slow))
    while not (tmp_path / "compiling").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None  # it waits for the compiler
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    code, _, err = end(process)
    assert code == 130
    assert err.rstrip().endswith("interrupted")
    assert time.monotonic() - start < 20
    code, _, err = end(begin_exploring(folder, *words, "--resume"))
    assert code == 0, err
    assert statuses(folder, "promoted") == {"ok": 1}
