"""The club table: a camera, a page, a voice and a log that loses nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from calibration.errors import InputError


def serve(
    *,
    source: str | None = None,
    game: str | None = None,
    rules: str | None = None,
    players: list[str] | None = None,
    host: str | None = None,
    port: int | None = None,
    speak: bool = False,
    config: Path | None = None,
    language: str | None = None,
    length: float | None = None,
    race_to: int | None = None,
    data: Path | None = None,
    new: bool = False,
) -> None:
    """Referee a table until interrupted; what is given here goes before ``config``.

    Raises
    ------
    InputError
        Where a setting is wrong, the port is taken, or there is nothing to look at.
    """
    from railbird.live import service
    from railbird.live.camera import LiveCamera
    from railbird.live.config import Club, read_club, with_options
    from railbird.live.metrics import Metrics

    club = read_club(config) if config is not None else Club()
    pair = None if players is None else tuple(players)
    club = with_options(club, "match", game=game, rules=rules, players=pair, race_to=race_to)
    club = with_options(club, "page", host=host, port=port)
    club = with_options(club, "camera", source=source, length_m=length)
    club = with_options(club, "keep", folder=None if data is None else str(data))
    club = with_options(club, "", language=language)
    if speak:
        club = replace(club, sound=replace(club.sound, speak=True))
    if club.camera.source is None:
        raise InputError(
            "--source is missing: a camera number (0), an address (rtsp://…) or a file; or camera.source in --config"
        )
    service.log_to_stderr()
    service.check_free(club)
    metrics = Metrics()
    running = service.assemble(club, LiveCamera(club, metrics), metrics, resume=not new)
    service.begin_if_asked(running.parts.desk, club)
    for line in service.addresses(running.parts, club):
        print(line, flush=True)
    service.run(running)
