"""``weft worker``: offers, who takes them, and what comes of workers that die."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from backends.devices import device
from dse.cli import run as weft_command
from dse.evaluators.base import Request, Result, Status
from dse.evaluators.model import ModelEvaluator
from dse.kernels.data import data_of, packed, unpacked
from dse.run.folder.codec import key_of, program_digest
from dse.run.studies.storage import journal
from dse.run.workers import offers as offering
from dse.run.workers.fanout import Job
from dse.run.workers.joined import task_of
from dse.run.workers.offers import Board, Offers, left_results
from dsl.errors.errors import InputError
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline, Unroll
from tests.dse.commands import GEMM, begin, begin_exploring, end, kept, statuses
from tests.dse.manifest import WHOLE

optuna = pytest.importorskip("optuna")
KERNEL = data_of(load(GEMM).at("mini"))
PROGRAM = KERNEL.program
MANIFEST = {
    **WHOLE, "program": program_digest(PROGRAM), "size": "mini", "device": "xczu9eg",
    "clock_ns": 10.0, "evaluator": "model", "promote": [],
}  # fmt: skip


def job(*steps) -> Job:
    evaluator = ModelEvaluator()
    request = Request(PROGRAM, Schedule(steps), device("xczu9eg"), 10.0)
    return Job(key_of(request, evaluator), evaluator, request)


@pytest.fixture
def place(tmp_path: Path):
    return journal(tmp_path / "journal")


@pytest.fixture
def offers(place) -> Offers:
    return Offers(place, "s", MANIFEST, packed(KERNEL))


def joined(place, offers: Offers, jobs: int = 1) -> Board:
    board = Board(place, "s", jobs)
    board.beat([], force=True)
    time.sleep(0.15)
    _ = offers.free  # the first look does not tell who is there from who was
    time.sleep(0.15)
    board.beat([], force=True)
    return board


def test_the_kernel_comes_with_the_study(place, offers):
    found = Board(place, "s", 1).kernel
    assert found is not None
    assert unpacked(found, "it").program == PROGRAM
    large = bytes(range(256)) * 1000  # in several pieces
    Offers(place, "s", MANIFEST, large)
    assert Board(place, "s", 1).kernel == large
    Offers(place, "s", MANIFEST, packed(KERNEL))
    assert Board(place, "s", 1).kernel == packed(KERNEL)


@pytest.mark.parametrize(
    "wrong", [{"pieces": 7}, {"pieces": "1"}, {"0": 5}, {"0": "!"}, {"pieces": -1}]
)
def test_a_kernel_that_is_none_is_not_there(place, offers, wrong):
    number = place.get_study_id_from_name("s.kernel")
    for name, value in wrong.items():
        place.set_study_user_attr(number, name, value)
    assert Board(place, "s", 1).kernel is None


def test_nothing_is_offered_while_nobody_has_joined(place, offers):
    assert offers.free == 0
    board = joined(place, offers, jobs=3)
    assert offers.free == 3 + 1  # one to take when another has ended
    board.leave()
    time.sleep(0.15)
    assert offers.free == 0


def test_who_was_there_before_does_not_count(place, offers):
    Board(place, "s", 2).beat([], force=True)
    assert offers.free == 0


def test_an_offer_is_taken_once_and_its_result_comes_back(place, offers):
    a, b = joined(place, offers), Board(place, "s", 1)
    offers.begin(job(Pipeline("k")))
    offers.begin(job(Unroll("k", 2)))
    taken = [*a.take(1), *b.take(5)]
    assert len({t.key for t in taken}) == 2
    assert a.take(5) == b.take(5) == []
    assert offers.ended(0.01) == []
    result = Result(Status.OK, 5.0, {"dsp": 3}, "model", "tool")
    for found in taken:
        a.leave_result(found, result)
    ended = offers.ended(5)
    assert {done.job.key for done in ended} == {t.key for t in taken}
    assert {done.result for done in ended} == {result}


def test_a_result_that_comes_too_late_lands_nowhere(place, offers):
    board = joined(place, offers)
    offers.begin(job())
    [taken] = board.take(1)
    offers.close()
    board.leave_result(taken, Result(Status.OK, 5.0))
    board.give_back(taken)
    assert left_results(place, "s") == {}


def test_a_result_that_nobody_waited_for_is_found_again(place, offers):
    board = joined(place, offers)
    offers.begin(job())
    [taken] = board.take(1)
    board.leave_result(taken, Result(Status.OK, 5.0))
    assert left_results(place, "s") == {taken.key: Result(Status.OK, 5.0)}
    assert left_results(place, "other") == {}


def test_what_is_given_back_is_begun_again(place, offers):
    board = joined(place, offers)
    offers.begin(job())
    board.give_back(board.take(1)[0])
    [done] = offers.ended(5)
    assert done.result is None
    assert done.job == job()


def test_what_several_workers_were_lost_over_is_an_error(place, offers, monkeypatch):
    monkeypatch.setattr(offering, "SILENCE", 0.2)
    results = []
    for _ in range(3):
        offers.begin(job())
        [_] = Board(place, "s", 1).take(1)  # which dies now
        [done] = offers.ended(5)
        results.append(done.result)
    assert results[:2] == [None, None]
    assert (results[2].status, results[2].detail) == (
        Status.TOOL_ERROR, "3 workers were lost over it",
    )  # fmt: skip


def test_a_worker_that_gives_signs_of_life_is_waited_for(place, offers, monkeypatch):
    monkeypatch.setattr(offering, "SILENCE", 0.4)
    board = Board(place, "s", 1)
    offers.begin(job())
    taken = board.take(1)
    for _ in range(6):
        assert offers.ended(0.15) == []
        board.beat(taken, force=True)


def test_offers_that_nobody_takes_are_withdrawn(place, offers, monkeypatch):
    monkeypatch.setattr(offering, "SILENCE", 0.2)
    offers.begin(job())
    [done] = offers.ended(5)
    assert done.result is None
    assert Board(place, "s", 1).take(1) == []


def test_what_no_worker_has_taken_is_recalled(place, offers):
    board = Board(place, "s", 1)
    offers.begin(job(Pipeline("k")))
    offers.begin(job(Unroll("k", 2)))
    [taken] = board.take(1)
    [recalled] = offers.recalled()
    assert {taken.key, recalled.key} == {job(Pipeline("k")).key, job(Unroll("k", 2)).key}
    assert board.take(5) == offers.recalled() == []
    board.leave_result(taken, Result(Status.OK, 5.0))
    [done] = offers.ended(5)
    assert (done.job.key, done.result) == (taken.key, Result(Status.OK, 5.0))


def test_offers_wait_while_there_are_workers(place, offers, monkeypatch):
    monkeypatch.setattr(offering, "SILENCE", 0.6)
    board = joined(place, offers)
    offers.begin(job())
    for _ in range(8):
        assert offers.ended(0.15) == []
        board.beat([], force=True)
    assert len(board.take(1)) == 1


def test_workers_leave_when_there_will_be_no_more(place, offers):
    board = Board(place, "s", 1)
    assert board.open
    offers.end()
    assert not board.open


def test_a_study_without_offers_cannot_be_joined(place):
    with pytest.raises(InputError) as caught:
        Board(place, "nothing", 1)
    assert "error[W533]: the storage has no study 'nothing'" in caught.value.render()


def test_a_study_that_says_nothing_yet_cannot_be_joined_yet(place):
    optuna.create_study(study_name="s.offers", storage=place)
    with pytest.raises(InputError) as caught:
        Board(place, "s", 1)
    assert caught.value.code == "W533"


# -------------------------------------------------------------------------------- what is asked for


def test_an_offer_is_the_evaluation_that_its_key_says():
    task = task_of(MANIFEST, GEMM, KERNEL)
    wanted = job(Pipeline("k"))
    schedule = wanted.request.schedule.to_json()
    taken = offering.Taken(1, wanted.key, "model", schedule)
    assert task.job(taken) == wanted
    for other in (
        offering.Taken(1, "0" * 32, "model", schedule),
        offering.Taken(1, wanted.key, "model", Schedule((Pipeline("i"),)).to_json()),
        offering.Taken(1, wanted.key, "none", schedule),
        offering.Taken(1, wanted.key, "model", '{"steps": [{"step": "rm -rf /"}]}'),
        offering.Taken(1, wanted.key, "model", "[" * 100_000),
    ):
        with pytest.raises(InputError) as caught:
            task.job(other)
        assert "error[W535]" in caught.value.render()


def test_a_worker_with_another_kernel_is_refused():
    with pytest.raises(InputError) as caught:
        task_of(MANIFEST, "x.py:gemm", data_of(load(GEMM)))
    assert "error[W535]: x.py:gemm is not the kernel" in caught.value.render()


@pytest.mark.parametrize("words", [[], ["RUN", "--storage", "postgresql://h/d"]])
def test_a_worker_is_told_one_place(words, capfd):
    assert weft_command(["worker", *words]) == 2
    assert "either the folder of a run, or --storage" in capfd.readouterr().err


def test_a_study_in_a_database_has_a_name(capfd):
    assert weft_command(["worker", "--storage", "postgresql://h/d"]) == 2
    assert "--storage needs --study" in capfd.readouterr().err


# ---------------------------------------------------------------------------------------- processes


def test_workers_on_a_folder_do_all_of_it_and_one_dies(tmp_path):
    folder = tmp_path / "run"
    words = ["--strategy", "random", "--trials", "14", "--jobs", "0", "--open", "--dsp", "200"]
    words += ["--study", "mine"]  # workers find its name in the run
    exploring = begin_exploring(folder, *words)
    deadline = time.monotonic() + 60
    while not (folder / "study.journal").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    dying, living = begin("worker", folder), begin("worker", folder, "--jobs", "2")
    while len(kept(folder)) < 2:
        assert time.monotonic() < deadline + 60
        time.sleep(0.05)
    dying.send_signal(signal.SIGKILL)
    dying.communicate()
    code, _, err = end(exploring)
    assert code == 0, err
    assert end(living)[0] == 0
    assert sum(statuses(folder).values()) == 14
    assert set(statuses(folder)) <= {"ok", "infeasible", "duplicate"}
    keys = [e["key"] for e in events(folder) if e["event"] == "trial" and e["key"]]
    once = [e["key"] for e in events(folder) if e.get("status") in ("ok", "infeasible")]
    assert len([k for k in once if k]) == len(kept(folder)) == len(set(keys))


def events(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def test_a_worker_stops_after_what_is_under_way(tmp_path):
    folder = tmp_path / "run"
    exploring = begin_exploring(
        folder, "--strategy", "random", "--trials", "5000", "--jobs", "0", "--open"
    )
    worker = begin("worker", folder, "--idle", "60")
    deadline = time.monotonic() + 120
    while len(kept(folder)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    worker.send_signal(signal.SIGINT)
    code, _, err = end(worker)
    assert code == 130
    assert "stopping after the evaluations under way" in err
    exploring.send_signal(signal.SIGINT)
    assert end(exploring)[0] == 130


def test_a_worker_leaves_when_there_is_nothing_to_do(tmp_path, capfd):
    folder = tmp_path / "run"
    code, _, err = end(begin_exploring(folder, "--strategy", "pom", "--trials", "2"))
    assert code == 0, err
    assert weft_command(["worker", str(folder), "--idle", "0"]) == 1
    assert "error[W533]" in capfd.readouterr().err
