"""The report in a real browser: charts are drawn, answer to mouse and keys, and ask nobody."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.cli import run as weft_command
from dse.report.page import write_report
from dse.run.folder.directory import open_run
from tests.dse.test_report import EVIL, GEMM, spoiled
from tests.support.browser import Page, chromium, opened

pytest.importorskip("optuna")
pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium on PATH")


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "run"
    # tpe leaves points over the limits of what plans do not know, and points behind the front.
    words = ["--size", "mini", "--dsp", "300", "--limit", "lut=15000", "--trials", "40"]
    assert (
        weft_command(
            [
                "explore",
                "--evaluator",
                "model",
                GEMM,
                *words,
                "--strategy",
                "tpe",
                "--out",
                str(folder),
            ]
        )
        == 0
    )
    write_report(open_run(folder, write=False))
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Page]:
    with opened(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(browser, finished) -> Iterator[Page]:
    browser.resize(1280)
    yield shown(browser, finished)
    assert browser.console == []
    assert browser.asked == [(finished / "report.html").as_uri()]


def shown(browser: Page, folder: Path) -> Page:
    browser.load("about:blank")
    browser.console.clear()
    browser.asked.clear()
    browser.load((folder / "report.html").as_uri())
    browser.until("document.documentElement.dataset.ready === 'yes'")
    browser.until("document.querySelectorAll('.chart svg').length >= 3")
    return browser


def data(page: Page) -> dict:
    return json.loads(page.do("document.getElementById('data').textContent"))


def count(page: Page, selector: str) -> int:
    return page.do(f"document.querySelectorAll({json.dumps(selector)}).length")


def text(page: Page, selector: str) -> str:
    return page.do(f"document.querySelector({json.dumps(selector)}).innerText")


def choose(page: Page, selector: str, value: str) -> None:
    page.do(
        f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
        f"e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change')); }})()"
    )


def test_every_design_is_a_mark_of_its_kind(page):
    designs = data(page)["designs"]
    for kind, ok, front in (("best", True, True), ("behind", True, False), ("over", False, False)):
        expected = sum(d["ok"] is ok and d["front"] is front for d in designs)
        assert expected > 0
        assert count(page, f"#chart-front .spot.{kind}") == expected
    trials = [t for t in data(page)["trials"] if t[2] is not None]
    assert count(page, "#chart-converge .spot") == len(trials)
    assert count(page, "#chart-parallel .lines path") == sum(d["ok"] for d in designs)


def test_no_mark_is_where_no_design_can_be(page):
    # The area's edge belongs to it; designs may be on the edge, above or to the right.
    inside = page.do(
        "(() => { const area = document.querySelector('#chart-front .bound-area');"
        "return [...document.querySelectorAll('#chart-front circle.spot')].filter((c) =>"
        "area.isPointInFill(new DOMPoint(c.cx.baseVal.value + 1, c.cy.baseVal.value - 1))).length; })()"
    )
    assert inside == 0


def test_the_fastest_design_is_selected_at_first(page):
    best = min((d for d in data(page)["designs"] if d["front"]), key=lambda d: d["latency"])
    assert best["key"][:8] in text(page, "#card")
    assert f"{best['latency']:,.0f} cycles" in text(page, "#card")
    assert page.do("[...document.querySelectorAll('article.design')].filter(a => !a.hidden)"
                   ".map(a => a.id)") == [f"d-{best['key']}"]  # fmt: skip


def test_a_click_on_a_mark_shows_its_schedule(page):
    behind = page.do(
        "(() => { const e = document.querySelector('#chart-front .spot.behind');"
        "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    page.mouse("mouseMoved", *behind)
    hint = text(page, "#tip")
    assert "cycles" in hint
    page.click(*behind)
    key = text(page, "#card h3 code")
    assert f"design {key}" in hint
    assert "behind the front" in text(page, "#card")
    assert "@gemm.schedule" in text(page, "article.design:not([hidden]) pre")
    assert key in text(page, "article.design:not([hidden]) h3")


def test_arrow_keys_step_through_the_front(page):
    keys = [d["key"][:8] for d in data(page)["designs"] if d["front"]]
    page.do("document.getElementById('chart-front').focus()")
    page.key("ArrowLeft")
    assert text(page, "#card h3 code") == keys[1]
    page.key("ArrowRight")
    page.key("ArrowRight")
    assert text(page, "#card h3 code") == keys[0]


def test_the_table_selects_and_sorts(page):
    keys = [d["key"] for d in data(page)["designs"] if d["front"]]
    page.click(*page.place(f'button.pick[data-key="{keys[-1]}"]'))
    assert text(page, "#card h3 code") == keys[-1][:8]
    first = "#front-table tbody tr:first-child td:nth-child(2)"
    before = text(page, first)
    page.do("document.querySelectorAll('#front-table th button')[1].click()")
    assert text(page, first) == before
    page.do("document.querySelectorAll('#front-table th button')[1].click()")
    latency = max(d["latency"] for d in data(page)["designs"] if d["front"])
    assert text(page, first) == f"{latency:,.0f}"


def test_another_resource_can_be_across(page):
    labels = data(page)["labels"]
    choose(page, "#front-x", str(labels.index("LUT")))
    title = page.do("document.querySelector('#chart-front .axis.middle').textContent")
    assert title == "LUT"
    assert count(page, "#chart-front .spot") == len(data(page)["designs"])


def test_marks_can_be_hidden_and_a_part_zoomed_into(page):
    every = count(page, "#chart-front .spot")
    over = count(page, "#chart-front .spot.over")
    page.do("document.querySelector('#front-legend label:last-child input').click()")
    assert count(page, "#chart-front .spot") == every - over
    x, y = page.place("#chart-front")
    page.mouse("mousePressed", x - 150, y - 150)
    page.mouse("mouseMoved", x, y)
    page.mouse("mouseReleased", x + 60, y + 60)
    assert count(page, "#chart-front .spot") < every - over
    page.click(*page.place("#front-reset"))
    assert count(page, "#chart-front .spot") == every - over


def test_a_range_on_an_axis_filters_all_charts(page):
    lines = count(page, "#chart-parallel .lines path")
    [x, top, bottom] = page.do(
        "(() => { const e = [...document.querySelectorAll('.par-axis .hold')].pop();"
        "e.scrollIntoView({block: 'center', inline: 'center'}); const b = e.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y, b.y + b.height]; })()"
    )
    page.mouse("mousePressed", x, bottom)
    page.mouse("mouseMoved", x, bottom - (bottom - top) / 3)
    page.mouse("mouseReleased", x, bottom - (bottom - top) / 3)
    out = count(page, "#chart-parallel .lines path.out")
    assert 0 < out < lines
    assert count(page, "#chart-front .spot.out") >= out
    assert f"{lines - out} of {lines} designs kept" in text(page, "#filters")
    page.click(*page.place("#filters"))
    assert count(page, ".out") == 0


def test_a_click_on_the_name_of_an_axis_keeps_what_the_selected_design_has(page):
    page.do("document.querySelector('.par-name').dispatchEvent(new Event('click'))")
    assert not page.do("document.getElementById('filters').hidden")
    assert count(page, "#chart-parallel .lines path:not(.out)") >= 1


def test_convergence_over_seconds(page):
    choose(page, "#converge-x", "seconds")
    titles = page.do("document.querySelector('#chart-converge .axis.middle').textContent")
    assert titles == "seconds at work"


def test_dark_as_the_user_likes_it_and_by_the_button(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.do(colour)
    page.resize(1280, scheme="dark")
    dark = page.do(colour)
    assert dark != light
    page.resize(1280, scheme="light")
    assert page.do(colour) == light
    page.click(*page.place("#theme"))
    assert page.do(colour) == dark
    assert text(page, "#theme") == "Light"


@pytest.mark.parametrize("width", [1600, 768, 390])
def test_it_fits_the_window(page, width):
    page.resize(width)
    page.until(f"document.querySelector('#chart-front svg').clientWidth <= {width}")
    assert page.do("document.documentElement.scrollWidth") <= width


def test_words_are_readable_on_their_ground(page):
    """Contrast of at least 4.5 to 1, in both colour schemes (WCAG 2.1, 1.4.3)."""
    for scheme in ("light", "dark"):
        page.resize(1280, scheme=scheme)
        assert page.do(CONTRAST) == []


CONTRAST = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const shine = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const node of document.querySelectorAll('h1,h2,h3,h4,p,a,td,th,dt,dd,button,label,small,code,text')) {
    if (!node.textContent.trim() || !node.getClientRects().length) continue;
    const style = getComputedStyle(node);
    const ink = rgb(node.tagName === 'text' ? style.fill : style.color);
    const [a, b] = [shine(ink), shine(ground(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(`${node.tagName}.${node.className} ${node.textContent}`);
  }
  return bad.slice(0, 5);
})()
"""


def test_what_can_be_used_has_a_name(page):
    nameless = page.do(
        "[...document.querySelectorAll('button, a, select, input, [role], [tabindex]')]"
        ".filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() ||"
        " (e.labels && e.labels.length && e.labels[0].textContent.trim()))"
        " && e.id !== 'tip' && e.tagName !== 'PRE').map((e) => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []


def test_hostile_names_run_nothing(browser, finished, tmp_path):
    folder = spoiled(Path(shutil.copytree(finished, tmp_path / "run")))
    write_report(open_run(folder, write=False))
    shown(browser, folder)
    assert browser.do("document.querySelector('h1').textContent") == EVIL
    assert count(browser, "script") == 2
    assert count(browser, "img") == 0
    assert EVIL in browser.do("document.querySelector('#card').textContent") or count(
        browser, "#chart-parallel svg"
    )
    assert browser.console == []
    assert browser.asked == [(folder / "report.html").as_uri()]


def test_without_scripts_all_but_the_charts_is_there(browser, finished):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.load((finished / "report.html").as_uri())
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert "The charts need JavaScript" in browser.do("document.querySelector('main').innerText")
    assert count(browser, "article.design:not([hidden])") > 3
