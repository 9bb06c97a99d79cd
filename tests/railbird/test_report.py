"""The report: what it says, that it is one file, and that nothing from outside becomes markup."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from calibration.errors import InputError
from railbird import report, result
from railbird.report.statistics import breaks, final_score, statistics
from railbird.report.top_view import numbered_events, simplify, symbols, top_view
from railbird.script import rule
from railbird.words import words
from tests.railbird.made import ANN, BO, TABLE, a_match, event, ruled

LANGUAGES = ("en", "hu", "et")
NASTY = ('<script>alert("x")</script>', '"><img src=x onerror=alert(1)>')


class Reader(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_page_says_what_was_ruled() -> None:
    text = " ".join(Reader(report.render(ruled())).words)
    for said in (
        ANN,
        BO,
        "Foul: wrong ball first",
        "WPA 2025",
        "3.2",
        "For a person to decide",
        "The light changed;",
        "scratch",
    ):
        assert said in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language(language: str) -> None:
    page = Reader(report.render(ruled(), language=language))
    assert ("html", {"lang": language}) in page.tags
    text = " ".join(page.words)
    assert words(language)("report.statistics") in text
    if language != "en":
        assert "How sure" not in text
        assert "wrong ball first" not in text


def test_self_contained_and_nothing_but_our_script_runs() -> None:
    html = report.render(ruled(), clip="annotated.mp4")
    page = Reader(html)
    for tag, attrs in page.tags:
        for key in ("src", "href"):
            value = attrs.get(key) or ""
            assert not re.match(r"(https?:)?//", value), (tag, value)
        assert not any(key.startswith("on") for key in attrs), (tag, attrs)
    assert [a.get("src") for t, a in page.tags if t == "video"] == ["annotated.mp4"]
    policy = next(
        a["content"] for t, a in page.tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in (policy or "")
    assert "default-src 'none'" in (policy or "")


def test_what_comes_from_outside_is_text() -> None:
    match = a_match(players=NASTY)
    match["source"]["file"] = NASTY[0]
    match["warnings"][0] |= {"code": "from-elsewhere", "text": NASTY[1]}
    html = report.render(rule(match))
    page = Reader(html)
    assert not [a for t, a in page.tags if t == "img"]
    assert sum(t == "script" for t, _ in page.tags) == 1
    assert NASTY[0] in " ".join(page.words)


def test_headings_and_ids() -> None:
    page = Reader(report.render(ruled()))
    ids = [a["id"] for _, a in page.tags if a.get("id")]
    assert len(ids) == len(set(ids))
    targets = [a["href"][1:] for t, a in page.tags if t in ("a", "use") and (a.get("href") or "").startswith("#")]  # type: ignore[index]
    assert set(targets) <= set(ids)
    levels = [int(t[1]) for t, _ in page.tags if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_clip_beside_or_inside(tmp_path: Path) -> None:
    clip = tmp_path / "clip one.mp4"
    clip.write_bytes(b"not much of a film")
    assert 'src="clip%20one.mp4"' in report.render(ruled(), clip=clip)
    inside = report.render(ruled(), clip=clip, embed=True)
    assert base64.b64encode(clip.read_bytes()).decode() in inside
    with pytest.raises(InputError, match="cannot be read"):
        report.render(ruled(), clip=tmp_path / "none.mp4", embed=True)


def test_rebuilt_from_the_file_alone(tmp_path: Path) -> None:
    result.write(tmp_path / "match.json", ruled())
    (tmp_path / "annotated.mp4").write_bytes(b"film")
    page = report.rebuild(tmp_path / "match.json", language="hu")
    assert page == tmp_path / "report.html"
    assert 'src="annotated.mp4"' in page.read_text(encoding="utf-8")
    assert (tmp_path / "shots.csv").exists()
    assert "1. lökés" in (tmp_path / "chapters.vtt").read_text(encoding="utf-8")
    elsewhere = report.rebuild(tmp_path / "match.json", out=tmp_path / "other")
    assert "<video" not in elsewhere.read_text(encoding="utf-8"), "no link into another folder"


def test_match_without_shots_or_rulings() -> None:
    empty = a_match()
    empty["shots"] = []
    assert "<h1" in report.render(empty)
    assert "Not ruled" in " ".join(Reader(report.render(a_match())).words)


def test_wrong_field_is_named() -> None:
    match = ruled()
    match["game"] = "croquet"
    with pytest.raises(InputError, match="game"):
        report.render(match)


# -- top view ----------------------------------------------------------------------------------------------------------
def view(shot: dict[str, Any]) -> ET.Element:
    return ET.fromstring(top_view(shot, TABLE, title="Shot <1> & more", ident="v"))


def test_contacts_are_numbered_in_order_of_time() -> None:
    shot = ruled(0.03)["shots"][2]
    svg = view(shot)
    assert svg.findtext("title") == "Shot <1> & more"
    assert [t.text for t in svg.iter("text")] == ["1", "2"]
    numbers = [(n, e["balls"]) for n, e in numbered_events(shot) if n]
    assert numbers == [(1, [0, 2]), (2, [0, 5])]


def test_balls_lie_where_they_lie() -> None:
    shot = ruled(0.03)["shots"][1]
    svg = view(shot)
    places = {}
    for group in svg.iter("g"):
        use = group.find("g/use")
        if use is not None:
            x, y = map(float, re.findall(r"-?\d+", group.get("transform") or ""))
            places[int((use.get("href") or "").removeprefix("#ball-"))] = (y / 1000, x / 1000)
    for ball, at in shot["end"].items():
        assert places[int(ball)] == pytest.approx(at, abs=6e-4), ball


def test_path_ends_in_the_pocket_and_touches_the_rail() -> None:
    svg = view(ruled(0.03)["shots"][0])
    lines = {p.get("stroke"): p.get("points") or "" for p in svg.iter("polyline") if p.get("class") == "tv-path"}
    one = [tuple(map(float, pair.split(","))) for pair in lines["#f2b705"].split()]
    pocket = TABLE.pockets["foot-right"].centre
    assert one[-1] == pytest.approx((1000 * pocket[1], 1000 * pocket[0]), abs=1)
    cue = [tuple(map(float, pair.split(","))) for pair in lines["#f7f4ea"].split()]
    assert max(x for x, _ in cue) == pytest.approx(2511, abs=1)


def test_unlikely_events_are_not_drawn() -> None:
    shot = copy.deepcopy(ruled(0.03)["shots"][2])
    shot["events"].append(event("contact", 9.5, p=0.3, balls=[2, 9], at=[0.5, 2.0]))
    assert [t.text for t in view(shot).iter("text")] == ["1", "2"]


def test_simplify_keeps_within_tolerance() -> None:
    points = [(x / 100, 0.002 * (x % 2)) for x in range(100)] + [(1.0, 1.0)]
    few = simplify(points, 0.003)
    assert few[0] == points[0]
    assert few[-1] == points[-1]
    assert len(few) <= 5
    assert len(simplify(points, 0.0005)) > 50


def test_sixteen_different_balls() -> None:
    found = ET.fromstring(symbols()).findall("symbol")
    assert [s.get("id") for s in found] == [*(f"ball-{n}" for n in range(16)), "ball-doubt"]
    assert len({ET.tostring(s) for s in found}) == 17


def test_a_doubtful_number_is_marked_and_said() -> None:
    match = ruled(0.03)
    shot = match["shots"][2]
    shot["identity_p"] = {"0": 1.0, "2": 0.62, "5": 0.95}
    marked = [
        [use.get("href") for use in group.iter("use")]
        for group in view(shot).iter("g")
        if group.get("class") == "tv-ball"
    ]
    assert ["#ball-2", "#ball-doubt"] in marked
    assert sum("#ball-doubt" in hrefs for hrefs in marked) == 1
    reader = Reader(report.render(match))
    text = " ".join(reader.words)
    assert text.count("Number not sure: 2\N{NO-BREAK SPACE}(62%)") == 2, (
        "below the picture, and in its title for who cannot see it"
    )
    assert "number not sure" in text
    plain = ruled(0.03)
    for row in plain["shots"]:
        row.pop("identity_p", None)
    assert "umber not sure" not in " ".join(Reader(report.render(plain)).words)


# -- statistics --------------------------------------------------------------------------------------------------------
def test_numbers_of_a_match() -> None:
    ann, bo = statistics(ruled(0.03))
    assert (ann.shots, bo.shots) == (3, 1)
    assert (ann.innings, bo.innings) == (2, 1)
    assert (ann.pots, ann.pot_shots, ann.high_run) == (1, 1, 1)
    assert (ann.misses, bo.misses) == (0, 1)
    assert dict(ann.fouls) == {"wrong-ball-first": 1, "scratch": 1}
    assert ann.shot_time == pytest.approx((1.3 + 1.5) / 2)
    assert bo.longest_time == pytest.approx(1.5)


def test_safety_is_no_miss_and_run_ends_with_the_turn() -> None:
    match = a_match(0.03)
    match["shots"][2]["call"] = "safety"
    bo = statistics(rule(match))[1]
    assert (bo.safeties, bo.misses) == (1, 0)


def test_break_with_its_balls_and_cue_ball() -> None:
    match = ruled(0.03)
    match["shots"][0]["break"] = True
    (only,) = breaks(match)
    assert (only.made, only.cue_ball, only.foul) == ((1,), (0.5, 1.1), None)
    assert statistics(match)[0].break_balls == 1


def test_score_is_the_last_rulings() -> None:
    match = ruled(0.03)
    match["shots"][-1]["ruling"]["score"] = {ANN: 3, BO: 5}
    assert final_score(match).of == (3, 5)


# -- words -------------------------------------------------------------------------------------------------------------
def test_catalogues_have_the_same_texts_with_the_same_gaps() -> None:
    def gaps(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name and not name.startswith("the")}

    english = words("en").texts
    for language in ("hu", "et"):
        other = words(language).texts
        assert set(other) == set(english)
        for key, text in english.items():
            assert gaps(other[key]) == gaps(text), (language, key)


def test_every_text_that_templates_ask_for_exists() -> None:
    for name in ("report.html.j2", "check.html.j2"):
        template = files("railbird.report").joinpath("templates", name).read_text(encoding="utf-8")
        for key in re.findall(r't\("([a-z_.-]+)"', template):
            assert key in words("en").texts, (name, key)


@pytest.mark.parametrize(
    ("language", "p", "text"),
    [
        ("en", 0.5, "50%"),
        ("en", 0.9999, "over 99%"),
        ("en", 0.995, "over 99%"),
        ("et", 0.001, "alla 1\u202f%"),
        ("hu", 0.954, "95%"),
    ],
)
def test_percent_is_never_certain(language: str, p: float, text: str) -> None:
    assert words(language).percent(p) == text


def test_numbers_in_sentences() -> None:
    assert words("hu").numeral(3) == "3-as"
    assert words("hu").numeral(5) == "5-ös"
    assert words("hu").number(-1.25, 1) == "−1,2"
    assert words("en").clock(3661.26, 1) == "1:01:01.3"
    assert words("et").clock(59.96, 1) == "1:00,0"
    assert "az 5-ös" in words("hu").event(event("contact", 1, balls=[0, 5]))
