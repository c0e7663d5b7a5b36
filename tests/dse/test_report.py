"""The report of a run: what it says, that it is one file, and that nothing in a run can break it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from dse.cli import run as weft_command
from dse.report.facts import Told, facts_of
from dse.report.numbers import duration, percent, times
from dse.report.page import data_of, page
from dse.report.render import render
from dse.run.folder.directory import open_run
from dse.run.folder.problem import problem_of
from dse.run.results.history import ending, history
from tests.dse.commands import begin_exploring, end, wait_for_points

ROOT = Path(__file__).resolve().parents[2]
GEMM = f"{ROOT}/examples/polybench/gemm.py:gemm"
pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "run"
    words = ["--size", "mini", "--dsp", "60", "--trials", "25", "--strategy", "auto"]
    assert weft_command(["explore", GEMM, *words, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def run(finished, tmp_path) -> Path:
    """A copy to be spoiled."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def written(folder: Path) -> str:
    return page(facts_of(open_run(folder, write=False)))


class Seen(HTMLParser):
    """Tags, the text of each kind of element, and whatever leads out of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.leads: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.texts.setdefault(tag, []).append("")
        names = {"src", "href", "action", "srcset", "data", "formaction", "poster", "background"}
        self.leads += [value or "" for name, value in attrs if name in names]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        if self.tags:
            self.texts[self.tags[-1]][-1] += data


# ---------------------------------------------------------------------------------------- the page


def test_the_report_is_one_file_that_leads_nowhere(finished):
    text = written(finished)
    seen = Seen(text)
    assert seen.leads
    assert all(lead.startswith("#") for lead in seen.leads)
    assert not {"link", "iframe", "object", "embed", "img", "base"} & set(seen.tags)
    assert "@import" not in text
    assert "url(" not in re.sub(r"url\(#", "", text)
    assert "default-src &#39;none&#39;" in text
    assert len(text) < 400_000


def test_it_shows_the_front_that_explore_shows(finished, capfd):
    facts = facts_of(open_run(finished, write=False))
    text = written(finished)
    assert len(facts.fronts) > 3
    for design in facts.fronts:
        assert f'id="d-{design.key}"' in text
        assert f'<td class="number">{design.cycles:,.0f}</td>' in text
    assert "gemm: exploration report" in text
    assert "1 was asked for and is reached" in text
    assert facts.best is not None
    assert facts.best.cycles == min(d.cycles for d in facts.drawn if d.result.status.value == "ok")


def test_a_pasted_schedule_is_the_design(finished, tmp_path, capfd):
    facts = facts_of(open_run(finished, write=False))
    best = facts.best
    assert best is not None
    [article] = re.findall(rf'<article id="d-{best.key}".*?</article>', written(finished), re.S)
    snippet = next(t for t in Seen(article).texts["code"] if t.startswith("@gemm.schedule"))
    file = tmp_path / "gemm.py"
    file.write_text((ROOT / "examples/polybench/gemm.py").read_text() + "\n\n" + snippet + "\n")
    name = f"design_{best.key[:8]}"
    words = ["estimate", f"{file}:gemm", "--schedule", name, "--size", "mini", "--format", "json"]
    assert weft_command(words) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["latency"]["average"] == best.cycles
    assert found["resources"]["dsp"]["used"] == best.result.resources["dsp"]


def test_bounds_budget_statuses_and_provenance_are_told(finished):
    text = written(finished)
    problem = problem_of(open_run(finished, write=False))
    assert problem is not None
    assert problem.bound is not None
    assert f"{problem.bound.cycles:,}" in text
    for bound in problem.bounds:
        assert bound.reason in text
    assert 'class="status ok"' in text
    assert "vitis-2022.1-zu9eg-10ns, on xczu9eg at 10 ns" in text
    assert "weft report" in text
    assert "C[i, j] += alpha * A[i, k] * B[k, j]" in text


def test_the_bound_falls_with_the_budget_and_no_design_beats_it(finished):
    facts = facts_of(open_run(finished, write=False))
    problem = facts.problem
    assert problem is not None
    assert [n for n, _ in problem.curve] == list(range(1, 61))
    cycles = [c for _, c in problem.curve]
    assert cycles == sorted(cycles, reverse=True)
    for design in facts.drawn:
        fewest = problem.fewest(design.result.resources["dsp"])
        assert fewest is None or design.cycles >= fewest


# --------------------------------------------------------------------------------- hostile contents


EVIL = "</script><img src=x onerror=alert(1)>'\"&<!--"


def spoiled(run: Path) -> Path:
    """A run in which every text that can be is hostile."""
    manifest = json.loads((run / "manifest.json").read_text())
    for name in ("kernel", "size", "source", "strategy"):
        manifest[name] = EVIL
    manifest["versions"] = {EVIL: EVIL}
    (run / "manifest.json").write_text(json.dumps(manifest))
    problem = json.loads((run / "problem.json").read_text())
    problem |= {"program": EVIL, "notes": [EVIL]}
    problem["bounds"][0]["reason"] = EVIL
    problem["structures"][0]["name"] = EVIL
    problem["device"]["name"] = EVIL
    (run / "problem.json").write_text(json.dumps(problem))
    for path in run.glob("points/*/result.json"):
        result = json.loads(path.read_text())
        result |= {"tool": EVIL, "provenance": EVIL, "detail": EVIL}
        for loop in result["loops"]:
            loop |= {"loops": [EVIL], "why": EVIL, "statements": [EVIL], "kind": EVIL}
        path.write_text(json.dumps(result))
    for path in run.glob("points/*/schedule.json"):
        steps = {"step": "partition", "array": EVIL, "dim": 0, "factor": 2}
        nest = {"step": "reorder", "loops": [EVIL, "b"]}
        path.write_text(json.dumps({"schema_version": 1, "kernel": EVIL, "steps": [steps, nest]}))
    return run


def test_hostile_names_stay_text(run):
    before, text = Seen(written(run)), written(spoiled(run))
    seen = Seen(text)
    assert "img" not in seen.tags
    assert seen.tags.count("script") == before.tags.count("script") == 2
    assert seen.texts["h1"] == [EVIL]
    assert EVIL not in text


def test_hostile_statuses_and_promotions_stay_text(run):
    (run / "study.journal").unlink()  # the log of events is read in its place
    (run / "events.jsonl").write_text(
        (run / "events.jsonl")
        .read_text()
        .replace('"status": "ok"', f'"status": {json.dumps(EVIL)}')
    )
    for path in run.glob("points/*/result.json"):
        result = json.loads(path.read_text()) | {"tool": EVIL, "provenance": EVIL}
        (path.parent / "csim.json").write_text(json.dumps(result))
    text = written(run)
    seen = Seen(text)
    assert "Evaluated again" in text
    assert EVIL in seen.texts["span"]  # the status, in the table of statuses
    assert "img" not in seen.tags
    assert seen.tags.count("script") == 2
    assert EVIL not in text


def test_the_block_of_data_cannot_be_ended_from_within(run):
    text = written(spoiled(run))
    block = text.partition('id="data">')[2].partition("</script>")[0]
    assert not set("<>&") & set(block)
    assert json.loads(block)["kernel"] == EVIL


def test_a_name_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError, match="'facts' is undefined"):
        render("program.html", {})


def test_without_jinja_nothing_is_searched(tmp_path):
    program = (
        "import sys; sys.modules['jinja2'] = None; from dse.cli import run; "
        f"sys.exit(run(['explore', {GEMM!r}, '--size', 'mini', '--out', {str(tmp_path / 'run')!r}]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ended.returncode == 1
    assert "error[W528]: a report needs Jinja2, which is not installed" in ended.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("damage", ["result", "schedule", "problem", "events", "journal"])
def test_a_damaged_run_still_has_a_report(run, damage):
    names = {"problem": "problem.json", "events": "events.jsonl", "journal": "study.journal"}
    paths = [run / names[damage]] if damage in names else list(run.glob(f"points/*/{damage}.json"))
    if damage == "journal":
        paths[0].unlink()
    for path in paths[:3]:
        if path.exists():
            path.write_text('{"torn": ')
    text = written(run)
    assert "Pareto front" in text
    assert "gemm" in text


def test_figures_that_are_no_numbers_are_left_out(run):
    best = facts_of(open_run(run, write=False)).best
    path = run / "points" / best.key / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "latency": float("-inf")}))
    facts = facts_of(open_run(run, write=False))
    assert best.key not in {d.key for d in facts.drawn}
    assert "NaN" not in page(facts)
    assert "Infinity" not in page(facts).partition('id="data"')[2].partition("</script>")[0]


def test_a_run_that_found_nothing_has_a_report(tmp_path, capfd):
    folder = tmp_path / "run"
    words = ["explore", GEMM, "--size", "mini", "--dsp", "1", "--strategy", "pom"]
    assert weft_command([*words, "--out", str(folder)]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert "no design keeps to the limits" in err
    nearest = re.search(r"nearest: .*, over its limit: dsp by (\d+)%", err)
    assert nearest is not None
    results = [open_run(folder, write=False).result(p.name) for p in (folder / "points").iterdir()]
    assert int(nearest[1]) == 100 * (min(r.resources["dsp"] for r in results) - 1)
    text = written(folder)
    assert "No design keeps to the limits." in text
    assert "over its limit: dsp" in text


# ------------------------------------------------------------------------------------- the command


def test_weft_report_writes_it_anew(run, tmp_path, capfd):
    (run / "report.html").unlink(missing_ok=True)
    assert weft_command(["report", str(run)]) == 0
    assert capfd.readouterr().err == f"report: {run / 'report.html'}\n"
    other = tmp_path / "other.html"
    assert weft_command(["report", str(run), "--out", str(other), "--format", "json"]) == 0
    [row] = json.loads(capfd.readouterr().out)["rows"]
    assert (row["kernel"], row["trials"], row["report"]) == ("gemm", 25, str(other))
    assert other.read_text() == (run / "report.html").read_text()


def test_there_must_be_a_run_to_report(tmp_path, capfd):
    assert weft_command(["report", str(tmp_path)]) == 1
    assert "error[W521]" in capfd.readouterr().err


# --------------------------------------------------------------------------------------- what it is of


def test_the_log_of_events_tells_of_the_same_trials_as_the_study(run):
    there = history(open_run(run, write=False))
    (run / "study.journal").unlink()
    told = history(open_run(run, write=False))
    assert [(t.number, t.key, t.status) for t in told] == [
        (t.number, t.key, t.status) for t in there
    ]
    assert len(told) == 25


def test_what_was_offered_to_workers_is_no_trial(tmp_path):
    folder = tmp_path / "run"
    code, _, err = end(begin_exploring(folder, "--open", "--trials", "5", "--strategy", "pom"))
    assert code == 0, err
    there = history(open_run(folder, write=False))
    assert [t.number for t in there] == list(range(len(there)))
    (folder / "study.journal").unlink()
    assert [t.key for t in history(open_run(folder, write=False))] == [t.key for t in there]


def test_how_a_run_ended_is_its_last_event(run):
    assert ending(open_run(run, write=False)) == "finished"
    with (run / "events.jsonl").open("a") as file:
        file.write('{"time": 9.0, "event": "resumed"}\n{"event": "tri')
    assert ending(open_run(run, write=False)) == "not finished"
    (run / "events.jsonl").unlink()
    assert ending(open_run(run, write=False)) == "not finished"


def test_data_for_the_charts(finished):
    facts = facts_of(open_run(finished, write=False))
    data = json.loads(json.dumps(data_of(facts)))
    assert len(data["designs"]) == facts.designs
    assert [d["front"] for d in data["designs"]].count(True) == len(facts.fronts)
    assert all(len(d["chosen"]) == len(data["axes"]) for d in data["designs"])
    assert len(data["trials"]) == 25
    assert [t[0] for t in data["trials"]] == list(range(25))
    assert data["limits"][data["resources"].index("dsp")] == 60
    best = min(t[2] for t in data["trials"] if data["statuses"][t[3]] == "ok")
    assert best == facts.best.cycles


def test_a_long_run_is_thinned_out_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("dse.report.facts.DRAWN", 12)
    words = ["--size", "mini", "--trials", "25", "--strategy", "random"]  # whose front is short
    assert weft_command(["explore", GEMM, *words, "--out", str(tmp_path / "run")]) == 0
    facts = facts_of(open_run(tmp_path / "run", write=False))
    assert len(facts.drawn) < facts.designs
    assert all(isinstance(d, Told) for d in facts.fronts)
    assert f"{len(facts.drawn)} of {facts.designs} designs are drawn" in page(facts)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (duration(257_102, 10), "2.571 ms"),
        (duration(3e9, 3.33), "9.99 s"),
        (duration(2, 10), "20 ns"),
        (times(1.0612), "1.06×"),
        (times(42.4), "42.4×"),
        (times(4944), "4,944×"),
        (percent(0.523), "52%"),
        (percent(0.043), "4.3%"),
        (percent(0), "0%"),
    ],
)
def test_numbers_have_three_digits_and_their_unit(text, shown):
    assert text == shown


# ------------------------------------------------------------------------------- when it is written


def test_an_interrupted_run_has_its_report_and_a_resumed_one_too(tmp_path):
    folder = tmp_path / "run"
    process = begin_exploring(folder, "--strategy", "random", "--trials", "5000")
    wait_for_points(folder, process, 3)
    process.send_signal(signal.SIGINT)
    code, _, err = end(process)
    assert code == 130
    assert f"report: {folder / 'report.html'}" in err
    first = (folder / "report.html").read_text()
    assert "trials, stopped" in first
    trials = len(history(open_run(folder, write=False)))
    again = begin_exploring(folder, "--strategy", "random", "--trials", str(trials + 3), "--resume")
    assert end(again)[0] in (0, 3)
    assert f"{trials + 3} trials, finished" in (folder / "report.html").read_text()


def test_a_killed_run_can_be_reported(tmp_path, capfd):
    folder = tmp_path / "run"
    process = begin_exploring(folder, "--strategy", "random", "--trials", "5000")
    wait_for_points(folder, process, 3)
    # Also while it is at work.
    assert weft_command(["report", str(folder), "--out", str(tmp_path / "now.html")]) == 0
    assert "trials, not finished" in (tmp_path / "now.html").read_text()
    process.kill()
    end(process)
    assert not (folder / "report.html").exists()
    assert weft_command(["report", str(folder)]) == 0
    assert "trials, not finished" in (folder / "report.html").read_text()


@pytest.mark.parametrize("objectives", ["latency", "seconds,lut", "latency,dsp,lut,ff"])
def test_other_objectives_have_their_report(tmp_path, capfd, objectives):
    folder = tmp_path / "run"
    words = f"--size mini --strategy random --trials 12 --objectives {objectives}".split()
    assert weft_command(["explore", GEMM, *words, "--format", "json", "--out", str(folder)]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    facts = facts_of(open_run(folder, write=False))
    assert [d.key for d in facts.fronts] == [row["design"] for row in rows]
    assert "Pareto front" in (folder / "report.html").read_text()
