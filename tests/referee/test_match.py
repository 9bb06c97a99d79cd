"""The match as a fold: log, undo, overrule, choices, explanations, clock, partners, languages, start-up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from string import Formatter

import pytest

import referee
from calibration.errors import InputError
from referee.clock import read_clock
from referee.explain import explain
from referee.match import Match
from referee.messages import LANGUAGES, catalogue
from referee.rulesets import RULE_SETS
from referee.terms import CueBall, Fifteenth, Foul, Group, Option, Reason

STRIKE = {"t_s": 0.0, "kind": "strike", "ball": 0}


def contact(ball: int, t: float = 0.3) -> dict[str, object]:
    return {"t_s": t, "kind": "contact", "balls": [0, ball]}


def rail(ball: int, name: str = "left", t: float = 0.9) -> dict[str, object]:
    return {"t_s": t, "kind": "rail", "ball": ball, "rail": name}


def pocket(ball: int, name: str = "foot-left", t: float = 1.2) -> dict[str, object]:
    return {"t_s": t, "kind": "pocket", "ball": ball, "pocket": name}


def nine(**more: object) -> Match:
    match = Match({"game": "9-ball", "rules": "wpa-2008", "players": ["Ann", "Bo"], "race_to": 5, **more})
    match.apply({"setup": {"break": False, "on_table": [0, 2, 5, 9]}})
    return match


def test_public_names_load_on_demand() -> None:
    for name in referee.__all__:
        assert getattr(referee, name) is not None
    with pytest.raises(AttributeError):
        _ = referee.nonsense


def test_the_opening_line_may_be_bare() -> None:
    assert Match({"game": "14.1", "players": ["A", "B"]}).options.rules.name == "wpa-2025"


def test_what_if_leaves_the_match_alone() -> None:
    match = nine()
    match.apply({"shot": {"events": [STRIKE, contact(2), rail(2)]}})
    before = (match.state, match.log, match.rulings)
    other = match.what_if(1, {"events": [STRIKE, contact(5), rail(5)]})
    assert other[0].enforced is Foul.WRONG_BALL_FIRST
    assert (match.state, match.log, match.rulings) == before


def test_overrule_keeps_what_is_not_given() -> None:
    match = nine()
    match.apply({"shot": {"events": [STRIKE, contact(2), pocket(2)]}})
    match.apply({"shot": {"events": [STRIKE, contact(5), rail(5)]}})
    rulings = match.overrule(1, {"observed": ["touched-ball"]})
    assert [ruling.shot for ruling in rulings] == [1, 2]
    assert rulings[0].pocketed == (2,)
    assert rulings[1].shooter == 1
    match.undo()
    assert match.rulings[0].legal


def test_a_refused_line_changes_nothing() -> None:
    match = nine()
    before = (match.state, match.log)
    with pytest.raises(InputError):
        match.apply({"shot": {"events": [STRIKE, contact(7)]}})
    with pytest.raises(InputError):
        match.overrule(4, {"events": []})
    assert (match.state, match.log) == before


def test_undo_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="no line"):
        Match({"game": "9-ball", "players": ["A", "B"]}).undo()


def test_choice_is_offered_and_taken() -> None:
    match = Match({"game": "8-ball", "players": ["Ann", "Bo"]})
    match.apply({"shot": {"events": [STRIKE, contact(1), rail(1)]}})
    assert match.choice == ("Bo", (Option.ACCEPT, Option.RERACK_SELF, Option.RERACK_OTHER))
    match.apply({"choose": "rerack-self"})
    assert match.choice is None
    assert match.state.shooter == 1
    assert match.state.is_break


def test_explanation_names_evidence_and_what_would_change_it() -> None:
    match = nine()
    match.apply({"shot": {"events": [STRIKE, contact(5), contact(2, 0.301), rail(5)]}})
    told = explain(match, 1)
    assert told.evidence == (("wrong-ball-first", "6.2", (1,)),)
    assert told.clause == "2.7"
    kinds = {(change.kind, change.events): change.ruling for change in told.changes}
    assert kinds["swapped", (1, 2)].legal
    assert kinds["without", (1,)].legal
    assert ("without", (3,)) not in kinds  # a second foul would be recorded, but nothing else would follow
    json.dumps(told.to_json())
    with pytest.raises(InputError):
        explain(match, 2)


def test_evidence_of_a_doubtful_shot_counts_the_events_as_listed() -> None:
    match = nine()
    events = [
        STRIKE,
        contact(5) | {"sigma_s": 0.001},
        contact(2, 0.31) | {"sigma_s": 0.001},
        rail(2) | {"p": 0.9},
        pocket(0),
    ]
    ruling = match.apply({"shot": {"events": events}})[0]
    assert [(found.foul, found.events) for found in ruling.fouls] == [
        (Foul.SCRATCH, (4,)),
        (Foul.WRONG_BALL_FIRST, (1,)),
    ]


def test_clock() -> None:
    match = nine(shot_clock_s=35)
    reading = read_clock(24, False, match.state, match.options)
    assert reading is not None
    assert not reading.call
    reading = read_clock(26, False, match.state, match.options)
    assert reading is not None
    assert reading.call
    assert reading.extension_left
    reading = read_clock(36, False, match.state, match.options)
    assert reading is not None
    assert reading.over
    reading = read_clock(36, True, match.state, match.options)
    assert reading is not None
    assert not reading.over
    assert read_clock(99, False, match.state, nine().options) is None


def test_half_a_thousand_lines_undo_quickly() -> None:
    match = nine()
    for _ in range(250):
        match.apply({"shot": {"events": [STRIKE, contact(2), rail(2)]}})
    assert match.state.shots == 250
    for _ in range(250):
        match.undo()
    assert match.state.shots == 0


# -- languages -----------------------------------------------------------------------------------------------------


def fields(message: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(message) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogues_have_the_same_messages_with_the_same_values(language: str) -> None:
    english, own = catalogue("en"), catalogue(language)
    assert set(own) == set(english)
    for key, message in own.items():
        assert message.strip(), key
        assert fields(message) == fields(english[key]), key
    if language != "en":
        alike = [
            key
            for key in own
            if own[key] == english[key]
            and re.search("[a-z]{4}", re.sub(r"\{[^}]*\}", "", own[key]))
            and "push" not in own[key].lower()
        ]
        assert not alike, f"not translated: {alike}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("prefix", "terms"),
    [
        ("foul", Foul),
        ("reason", Reason),
        ("option", Option),
        ("cue", CueBall),
        ("group", Group),
        ("fifteenth", Fifteenth),
    ],
)
def test_every_word_of_the_rules_has_a_translation(language: str, prefix: str, terms: type) -> None:
    missing = [term for term in terms if f"{prefix}.{term.value}" not in catalogue(language)]  # type: ignore[attr-defined]
    assert not missing


def test_every_hinge_can_be_told() -> None:
    import inspect

    from referee import doubt, fold, hinge

    codes = re.findall(r'_hinge\(\s*"([a-z-]+)"(?:, "([a-z-]+)")?', inspect.getsource(hinge))
    assert len(codes) > 8
    for language in LANGUAGES:
        for reason, message in codes:
            assert f"needs.{reason}" in catalogue(language)
            assert f"hinge.{message or reason}" in catalogue(language)
    for reason in re.findall(
        r'needs(?:_referee)? = .*?"([a-z-]+)"', inspect.getsource(doubt) + inspect.getsource(fold)
    ):
        assert f"needs.{reason}" in catalogue("hu")


# -- start-up ------------------------------------------------------------------------------------------------------


def test_adjudicate_loads_nothing_but_the_standard_library() -> None:
    program = (
        "import sys; before = set(sys.modules)\n"
        "import railbird.adjudicate, referee.messages_en, referee.messages_hu, referee.messages_et, referee.announce\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)\n"
        "print(sorted(names))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['calibration', 'railbird', 'referee', 'tracking']"


def test_command_prints_rulings_and_refuses_in_one_line(tmp_path: object) -> None:
    script = tmp_path / "match.jsonl"  # type: ignore[operator]
    good = '{"match": {"game": "9-ball", "players": ["Ann", "Bo"]}}\n{"concede": "Ann"}\n'
    script.write_text(good, encoding="utf-8")
    command = [sys.executable, "-m", "railbird", "adjudicate"]
    run = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert json.loads(run.stdout)["ruling"]["match_winner"] == "Bo"
    for text, told in [
        ("", "empty"),
        ("{", "no JSON"),
        (good + "{}", "line 3"),
        ('{"match": {"game": "chess", "players": ["A", "B"]}}', "match.game is 'chess': one of 8-ball"),
        ('{"match": {"game": "9-ball", "players": ["A", "A"]}}', "two different names"),
        ('{"match": {"game": "9-ball", "players": ["A", ""]}}', "two different names"),
        ('{"match": {"game": "9-ball", "rules": "est-14.1", "players": ["A", "B"]}}', "est-14.1 has 14.1"),
        ('{"match": {"game": "9-ball", "players": ["A", "B"], "race_to": 0}}', "match.race_to is 0"),
        ('{"match": {"game": "9-ball", "players": ["A", "B"], "sure": 3}}', "match.sure is 3"),
    ]:
        run = subprocess.run([*command, "-"], input=text, capture_output=True, text=True, check=False)
        assert run.returncode == 2
        assert told in run.stderr
        assert len(run.stderr.strip().splitlines()) == 1
    missing = subprocess.run([*command, "no-such-file"], capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "no-such-file" in missing.stderr


def test_rule_sets_are_named_as_in_the_contract() -> None:
    assert list(RULE_SETS) == ["wpa-2025", "wpa-2008", "est-14.1"]


def test_a_gap_between_contacts_is_told_in_the_languages_own_decimals() -> None:
    from referee.announce import hinge_text
    from referee.hinge import Hinge

    hinge = Hinge("first-contact", "first-contact-gap", (("one", 1), ("other", 3), ("gap", 0.53)))
    assert "0.5 ms" in hinge_text(hinge, "en")
    assert "0,5 ms" in hinge_text(hinge, "hu")
    assert "0,5 ms" in hinge_text(hinge, "et")
