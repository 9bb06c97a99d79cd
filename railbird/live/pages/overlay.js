// Score, balls left, shot clock and the last call, for a broadcast; the call goes away by itself.
import { $, make, fill, say, speakIn, listen, rulingText, clockText, joinByLink } from "/static/common.js";
import { ballIcon } from "/static/table.js";

await joinByLink();
const SHOWN_MS = 9000;
const GROUPS = { solids: [1, 2, 3, 4, 5, 6, 7], stripes: [9, 10, 11, 12, 13, 14, 15] };
let now = null;
let heardAt = 0;
let told = null;

async function show(state) {
  now = state;
  heardAt = Date.now();
  await speakIn(state.language);
  const match = state.match;
  $("bar").hidden = !match;
  if (!match) return;
  const who = (name, right) => {
    const group = match.groups?.[name];
    let rack = [];
    if (group) {
      rack = GROUPS[group].filter((ball) => match.on_table.includes(ball));
      if (!rack.length) rack = [8];
    } else if (match.game !== "8-ball" && match.game !== "14.1" && match.shooter === name) rack = match.on_table.filter((ball) => ball > 0);
    return make("div", { class: `who${right ? " right" : ""}${match.shooter === name && !match.winner ? " up" : ""}` }, make("b", {}, name), make("span", { class: "rack" }, ...rack.map((ball) => ballIcon(ball))));
  };
  const [a, b] = match.players;
  const goal = match.race_to ? say("race_to", { n: match.race_to }) : match.points_to ? say("points_to", { n: match.points_to }) : "";
  fill($("bar"), who(a), make("span", { class: "figure" }, String(match.score[a])), make("span", { class: "between" }, make("span", { class: "clock", id: "clock" }), make("span", {}, goal)), make("span", { class: "figure" }, String(match.score[b])), who(b, true));
  const ruling = match.last?.ruling;
  const key = ruling ? `${state.match_id}:${match.history.length}:${rulingText(ruling)}` : null;
  if (key && key !== told) {
    if (told !== null || match.history.length === 1) {
      $("call").hidden = false;
      $("call").className = ruling.fouls.length ? "foul" : "";
      $("call").textContent = rulingText(ruling);
      setTimeout(() => { if (told === key) $("call").hidden = true; }, SHOWN_MS);
    }
  }
  told = key;
  tick();
}

function tick() {
  const element = $("clock");
  if (!element || !now) return;
  const text = clockText(now.clock, heardAt);
  element.textContent = text;
  element.classList.toggle("near", text !== "" && Number(text) <= 10);
}
setInterval(tick, 250);
listen({ state: show });
