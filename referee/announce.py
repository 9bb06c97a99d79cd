"""Announcements of a ruling: a short one to be spoken and a full one to be read, in every language."""

from __future__ import annotations

from collections.abc import Iterable

from referee.messages import LANGUAGES, text
from referee.ruling import Hinge, Ruling
from referee.terms import CueBall, Reason

#: Reasons that are said even though no foul was made.
_SAID = frozenset(
    {
        Reason.WRONGLY_POCKETED,
        Reason.PUSHED_OUT,
        Reason.ILLEGAL_BREAK,
        Reason.THREE_BALL,
        Reason.EIGHT_ON_BREAK,
        Reason.RERACK,
        Reason.LAG_AGAIN,
        Reason.STALEMATE,
        Reason.STALEMATE_ANNOUNCED,
        Reason.CONCEDED,
        Reason.REPLAY,
        Reason.SAFETY,
        Reason.LAG_WON,
    }
)

#: Doubts of the eye, in which the shooter has the benefit.
_TOO_CLOSE = frozenset({"first-contact", "cue-ball", "rail", "kitchen"})


def announce(ruling: Ruling, *, full: bool = False) -> dict[str, str]:
    """The announcement of a ruling in every language, short to be spoken or ``full`` to be read."""
    return {language: (written if full else spoken)(ruling, language) for language in LANGUAGES}


def spoken(ruling: Ruling, language: str) -> str:
    """What a referee says aloud: the foul, what follows, who plays, what is to be chosen."""
    parts = list(_verdict(ruling, language))
    parts += _consequences(ruling, language)
    if ruling.needs_referee in _TOO_CLOSE and ruling.legal:
        parts.append(text(language, "say.video"))
    return " ".join(parts)


def written(ruling: Ruling, language: str) -> str:
    """The whole ruling in sentences, with articles, events' outcome, score, doubt and what it hangs on."""

    def say(key: str, **values: object) -> str:
        return text(language, key, **values)

    reason = ruling.loss or ruling.reason
    verdict = say("write.legal" if ruling.legal else "write.illegal", reason=say(f"reason.{reason.value}"))
    article = ruling.article or "-"
    if ruling.shot is not None:
        parts = [
            say(
                "write.head",
                shot=ruling.shot,
                player=ruling.name(ruling.shooter),
                verdict=verdict,
                rules=ruling.rules,
                article=article,
            )
        ]
    else:
        parts = [say("write.head-no-shot", verdict=_capital(verdict), rules=ruling.rules, article=article)]
    if ruling.fouls:
        fouls = (
            say("write.foul", foul=say(f"foul.{f.foul.value}"), rules=ruling.rules, article=f.article)
            for f in ruling.fouls
        )
        enforced = say(f"foul.{ruling.enforced.value}") if ruling.enforced else say("write.none")
        parts.append(say("write.fouls", fouls="; ".join(fouls), enforced=enforced))
    if ruling.pocketed:
        parts.append(say("write.pocketed", balls=_list(ruling.pocketed)))
    if ruling.spotted:
        spots = (say("write.spotted-at", ball=ball, x=at[0], y=at[1]) for ball, at in ruling.spotted.items())
        parts.append(say("say.spotted", balls="; ".join(spots)))
    parts += _consequences(ruling, language, score=True, spotted=False)
    parts.append(say("write.fouls-in-row", counts=_score(ruling, ruling.fouls_in_row)))
    if ruling.stalemate_turns is not None:
        parts.append(say("write.stalemate", counts=_score(ruling, ruling.stalemate_turns)))
    if ruling.sets is not None:
        parts.append(say("write.sets", score=_score(ruling, ruling.sets)))
    if ruling.p < 1.0 or ruling.alternative is not None:
        parts.append(say("write.p", p=ruling.p))
    other = ruling.alternative
    if other is not None:
        reading = say(f"foul.{other.enforced.value}") if other.enforced else say("write.no-foul")
        if other.next is not None and other.next.player is not None:
            reading += f", {ruling.name(other.next.player)}: {say(f'cue.{other.next.cue_ball.value}')}"
        parts.append(say("write.other", p=other.p, verdict=reading, hinge=hinge_text(other.hinge, language)))
    if ruling.needs_referee:
        parts.append(say("write.needs", why=say(f"needs.{ruling.needs_referee}")))
    return " ".join(parts)


def hinge_text(hinge: Hinge, language: str = "en") -> str:
    """The fact on which two readings part, in words."""
    values = dict(hinge.values)
    if "fouls" in values:
        values["fouls"] = ", ".join(text(language, f"foul.{code}") for code in str(values["fouls"]).split(", "))
    if isinstance(gap := values.get("gap"), float):
        values["gap"] = f"{gap:.1f}" if language == "en" else f"{gap:.1f}".replace(".", ",")
    return text(language, f"hinge.{hinge.message}", **values)


def _verdict(ruling: Ruling, language: str) -> Iterable[str]:
    if ruling.reason is Reason.CHOSEN and ruling.chosen is not None:
        yield text(
            language,
            "say.chosen",
            player=ruling.name(ruling.shooter),
            option=text(language, f"option.{ruling.chosen.value}"),
        )
    elif ruling.reason is Reason.PENALTY:
        if ruling.enforced is None:
            yield text(language, "say.warning-given", player=ruling.name(ruling.shooter))
        else:
            foul = text(language, f"foul.{ruling.enforced.value}")
            yield text(
                language,
                "say.penalty",
                player=ruling.name(ruling.shooter),
                reason=text(language, "reason.penalty"),
                foul=foul,
            )
    elif ruling.enforced is not None:
        yield text(language, "say.foul", foul=text(language, f"foul.{ruling.enforced.value}"))
    if ruling.loss is not None:
        yield text(language, "say.reason", reason=_capital(text(language, f"reason.{ruling.loss.value}")))
    elif ruling.reason in _SAID:
        yield text(language, "say.reason", reason=_capital(text(language, f"reason.{ruling.reason.value}")))


def _consequences(ruling: Ruling, language: str, *, score: bool = False, spotted: bool = True) -> Iterable[str]:
    def say(key: str, **values: object) -> str:
        return text(language, key, **values)

    if any(ruling.points) and ruling.game == "14.1":
        player = 0 if ruling.points[0] else 1
        if ruling.points[player] < 0 or score:
            yield say("say.points", player=ruling.players[player], points=ruling.points[player])
    if ruling.spotted and spotted:
        yield say("say.spotted", balls=_list(ruling.spotted))
    if ruling.fifteenth is not None:
        yield say("say.reason", reason=_capital(say(f"fifteenth.{ruling.fifteenth.value}")))
    if ruling.rack_winner is not None:
        yield say("say.rack", player=ruling.name(ruling.rack_winner))
    if ruling.match_winner is not None:
        yield say("say.match", player=ruling.name(ruling.match_winner))
    if score or ruling.rack_winner is not None or ruling.match_winner is not None or any(p < 0 for p in ruling.points):
        yield say("say.score", score=_score(ruling, ruling.score))
    if ruling.rerack is not None:
        yield say("say.rerack", count=ruling.rerack)
    if ruling.groups is not None and (score or ruling.article in ("3.4", "4.4")):
        for player in (0, 1) if score else (ruling.shooter or 0,):
            yield say("say.groups", player=ruling.players[player], group=say(f"group.{ruling.groups[player].value}"))
    if ruling.choice is not None:
        options = [say(f"option.{option.value}") for option in ruling.choice.options]
        offered = say("say.or", first=", ".join(options[:-1]), last=options[-1])
        yield say("say.choice", player=ruling.name(ruling.choice.player), options=offered)
    elif ruling.next is not None:
        yield from _turn(ruling, language)
    if ruling.warning_due is not None:
        yield say("say.two-fouls", player=ruling.name(ruling.warning_due))


def _turn(ruling: Ruling, language: str) -> Iterable[str]:
    following = ruling.next
    if following is None:
        return
    if following.player is None:
        yield text(language, "say.lag")
        return
    player = ruling.players[following.player]
    if following.is_break:
        yield text(language, "say.breaks", player=player)
    elif following.cue_ball is not CueBall.AS_LIES:
        yield text(language, "say.next", player=player, cue=text(language, f"cue.{following.cue_ball.value}"))
    else:
        stays = ruling.shot is not None and following.player == ruling.shooter
        yield text(language, "say.continues" if stays else "say.plays", player=player)
    if following.partner is not None:
        yield text(language, "say.partner", partner=following.partner, player=player)
    if following.push_out_allowed:
        yield text(language, "say.may-push")


def _list(balls: Iterable[int]) -> str:
    return ", ".join(map(str, balls))


def _score(ruling: Ruling, pair: tuple[int, int]) -> str:
    return f"{ruling.players[0]} {pair[0]}, {ruling.players[1]} {pair[1]}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
