// The players' page: announce the shot, choose, say what only people know, correct what was seen wrongly.
import { $, make, fill, say, doubtText, remarkText, named, speakIn, listen, theme, turnTheme, toJoin, get, post, ask, toast, rulingText, articleText, nextText, callText, sureness, clockText, ballName, joinByLink } from "/static/common.js";
import { TableView, ballIcon } from "/static/table.js";
import { offerButtons, openWrong, openSaw, openReplay, openConfirm, openSeat, openMoment } from "/static/sheets.js";

theme();
await joinByLink();
const view = new TableView($("table"), { lengthwise: false });
let now = null;
let heardAt = Date.now();
let me = { role: null, seat: null };
let ball = null;
let left = new Set(); // doubts somebody chose to leave as they are, by shot

const mine = (name) => me.seat === null || me.seat === undefined || now.match.players[me.seat] === name;

async function show(state) {
  const before = now?.match;
  now = state;
  heardAt = Date.now();
  await speakIn(state.language);
  const match = state.match;
  if (match && before && (before.shots !== match.shots || before.shooter !== match.shooter)) ball = null;
  strip(state);
  asking(state);
  calling(state);
  last(state);
  tools(state);
  more(state);
}

function strip(state) {
  const match = state.match;
  if (!match) return fill($("strip"), make("div", { class: "line" }, make("span", {}, say("no_match"))));
  const [a, b] = match.players;
  const name = (who, right) => make("span", { class: `who${right ? " right" : ""}${match.shooter === who && !match.winner ? " up" : ""}` }, who);
  const figure = (who) => String(match.score[who]).replace("-", "−");
  const state_ = match.paused ? "paused" : state.camera.state;
  return fill(
    $("strip"),
    make("div", { class: "scores" }, name(a), make("span", { class: "figures" }, figure(a), make("i", {}, ":"), figure(b)), name(b, true)),
    make("div", { class: "line" },
      make("span", {}, match.groups && match.shooter ? `${match.shooter}: ${named("group", match.groups[match.shooter])}` : `${named("game", match.game)} · ${named("rules", match.rules)}`),
      make("span", { class: "clock", id: "clock" }),
      make("span", { class: "state", "data-state": state_ }, say(`camera_${state_}`))),
  );
}

// What somebody has to answer before anything else: a choice, a doubt, a time-out, who breaks.
function asking(state) {
  const box = $("ask");
  const match = state.match;
  const parts = [];
  if (match && state.alert) parts.push(make("p", { class: "remark" }, say(`alert_${state.alert.code}`, { what: state.alert.what })));
  if (!match || match.winner) {
    if (match?.winner) parts.push(make("h3", {}, say("match_won", { player: match.winner })));
    if (me.role === "referee") parts.push(make("a", { class: "button", href: "/setup" }, say("setup")));
    else if (!match) parts.push(make("h3", {}, say("no_match")));
  } else if (match.paused) {
    parts.push(make("h3", {}, say("paused_text")), make("button", { class: "main", onclick: () => ask({ do: "pause", on: false }) }, say("play_on")));
  } else {
    if (match.choice) parts.push(...choosing(match));
    const doubt = doubtful(match);
    if (doubt) parts.push(...doubtParts(match, doubt));
  }
  box.hidden = !parts.length;
  fill(box, ...parts);
}

function choosing(match) {
  const own = mine(match.choice.player);
  return [
    make("h3", {}, say("choose_title", { player: match.choice.player })),
    make("div", { class: "options" }, ...match.choice.options.map((option) => make("button", { disabled: !own, onclick: () => ask({ do: "choose", option }) }, named("option", option)))),
  ];
}

function doubtful(match) {
  const shot = match.last?.shot;
  const ruling = shot?.ruling;
  if (!ruling || shot.corrected || left.has(shot.number)) return null;
  return ruling.needs_referee || (ruling.p < 0.95 && ruling.alternative) ? shot : null;
}

let asked = { shot: 0, key: "", offers: [] };
function doubtParts(match, shot) {
  const key = `${now.match_id}:${shot.number}:${match.history.length}`;
  if (asked.key !== key) {
    asked = { key, shot: shot.number, offers: [] };
    get(`/api/offers/${shot.number}`).then((offers) => {
      asked.offers = offers;
      if (now) asking(now);
    }).catch(() => {});
  }
  const at = asked.offers.find((offer) => offer.at_s !== null)?.at_s;
  const parts = [make("h3", {}, say("doubt_title")), make("p", { class: "dim" }, doubtText(shot.ruling))];
  if (now.clip && at !== undefined) {
    const picture = make("img", { src: `/api/moment/${shot.number}.jpg?at=${at}&m=${now.match_id}`, alt: "", loading: "lazy" });
    picture.addEventListener("error", () => picture.remove());
    picture.addEventListener("click", () => openMoment(shot.number, at));
    parts.push(picture);
  }
  parts.push(offerButtons(shot.number, asked.offers));
  parts.push(make("button", { class: "quiet", onclick: () => { left.add(shot.number); asking(now); } }, say("doubt_keep")));
  return parts;
}

function calling(state) {
  const match = state.match;
  const box = $("calling");
  box.hidden = !match || Boolean(match.winner) || match.paused;
  if (box.hidden) return;
  view.setTable(match.table);
  view.pocketLabel = (name) => named("pocket", name);
  const own = mine(match.shooter) && me.role !== "viewer";
  const calls = match.calls;
  const may = own && calls.wanted && state.camera.state !== "shot";
  $("calling-title").textContent = !own ? say("opponent_calls", { player: match.shooter ?? "" }) : calls.wanted ? say("call_your_shot") : nextText(match);
  let hint = "";
  if (calls.wanted && own) hint = ball !== null ? say("call_pocket", { ball: ballName(ball) }) : match.call ? "" : `${say("call_hint")} ${say("obvious")}`;
  else if (own) hint = say("not_called_game");
  $("calling-hint").textContent = hint;
  view.pickable = new Set(may ? calls.balls : []);
  view.pockets = may && ball !== null;
  view.chosenBall = ball ?? match.call?.ball ?? null;
  view.chosenPocket = match.call?.pocket ?? null;
  view.onBall = (chosen) => { ball = chosen; calling(now); };
  view.onPocket = (pocket) => announce({ kind: "ball", ball, pocket });
  const shot = match.last?.shot;
  const balls = Object.keys(state.balls).length ? state.balls : (shot?.facts.rest ?? {});
  view.draw({
    balls, ghosts: state.put_back ? (shot?.facts.start ?? {}) : {},
    faded: may ? new Set([0, ...calls.balls]) : null,
  });
  const seen = new Set(Object.keys(balls).map(Number));
  fill($("chips"), ...(may ? calls.balls : []).map((number) =>
    make("button", { "aria-pressed": String(number === ball), "aria-label": ballName(number), title: seen.has(number) ? "" : "?", onclick: () => { ball = number === ball ? null : number; calling(now); } }, ballIcon(number))));
  const row = [];
  if (match.call) {
    row.push(make("p", { class: "called-now" }, callText(match.call), make("button", { class: "quiet", "aria-label": say("call_clear"), disabled: !own, onclick: () => announce({ kind: "none" }) }, "✕")));
  }
  if (may && calls.safety) row.push(make("button", { "aria-pressed": String(match.call === "safety"), onclick: () => announce({ kind: "safety" }) }, say("safety")));
  if (own && calls.push_out) row.push(make("button", { "aria-pressed": String(match.call === "push-out"), onclick: () => announce({ kind: "push-out" }) }, say("push_out")));
  for (const claim of may ? calls.claims : [])
    row.push(make("button", { onclick: () => { claiming = claim; ball = 8; view.pickable.add(8); calling(now); } }, say(`claim_${claim}`)));
  fill($("calls"), ...row);
}

let claiming = null;
async function announce(call) {
  const command = { do: "call", ...call };
  if (claiming && call.ball === 8) command.claim = claiming;
  claiming = null;
  ball = null;
  await ask(command);
  if (now) calling(now);
}

function last(state) {
  const match = state.match;
  const ruling = match?.last?.ruling;
  $("last").hidden = !ruling;
  if (!ruling) return;
  const shot = match.last.shot;
  const parts = [make("h2", {}, say("last_call")), make("p", { class: ruling.fouls.length ? "said foul" : "said" }, rulingText(ruling))];
  const why = make("p", { class: "why" }, make("span", {}, articleText(ruling)));
  if (ruling.shot !== null) why.append(make("span", { class: ruling.p < 0.95 ? "sure low" : "sure" }, sureness(ruling.p)));
  if (shot?.corrected) why.append(make("span", {}, say("corrected")));
  parts.push(why);
  for (const remark of shot?.remarks ?? [])
    parts.push(make("p", { class: "remark" }, remarkText(remark)));
  const buttons = make("div", { class: "row" });
  if (shot && me.role !== "viewer") {
    buttons.append(make("button", { id: "wrong", onclick: () => openWrong(now) }, say("wrong")));
    buttons.append(make("button", { id: "saw", onclick: () => openSaw(now) }, say("somebody_saw")));
  }
  if (state.clip) buttons.append(make("button", { id: "replay", onclick: () => openReplay(now) }, say("replay_clip")));
  if (match.undo && me.role !== "viewer") buttons.append(make("button", { id: "undo", onclick: async () => (await ask({ do: "undo" })) && toast(say("undo_done")) }, say("undo")));
  if (match.redo && me.role !== "viewer") buttons.append(make("button", { onclick: () => ask({ do: "redo" }) }, say("redo")));
  parts.push(buttons);
  fill($("last"), ...parts);
}

function tools(state) {
  const match = state.match;
  const box = $("tools");
  if (!match || match.winner || me.role === "viewer") return fill(box);
  const row = [];
  if (!match.paused) row.push(make("button", { id: "pause", onclick: () => ask({ do: "pause", on: true }) }, say("time_out")));
  row.push(make("button", { "aria-pressed": String(Boolean(state.watch)), onclick: () => ask({ do: "watch-hit", on: !state.watch }) },
    state.watch?.ball ? say("gap", { ball: ballName(state.watch.ball), mm: state.watch.gap_mm }) : say("watch_hit")));
  row.push(make("button", { "aria-pressed": String(state.put_back), onclick: () => ask({ do: "put-back", on: !state.put_back }) }, say("put_back")));
  if (match.shot_clock_s && state.clock && !state.clock.extended) row.push(make("button", { onclick: () => ask({ do: "extension" }) }, say("extension")));
  return fill(box, ...row);
}

function more(state) {
  const match = state.match;
  const rows = (match?.history ?? []).slice(0, -1).reverse();
  const parts = [];
  if (match && !match.winner && me.role !== "viewer") {
    const row = make("div", { class: "row" });
    if (!match.shots) match.players.forEach((name, seat) => row.append(make("button", { onclick: () => ask({ do: "breaker", seat }) }, say("rack_ready", { player: name }))));
    const seats = me.seat === 0 || me.seat === 1 ? [me.seat] : [0, 1];
    for (const seat of seats)
      row.append(make("button", { class: "bad", onclick: () => openConfirm(say("concede_sure", { player: match.players[seat] }), say("concede"), () => ask({ do: "concede", seat })) }, seats.length > 1 ? `${say("concede")}: ${match.players[seat]}` : say("concede")));
    row.append(make("button", { onclick: () => openConfirm(say("interference"), say("apply"), () => ask({ do: "replay" })) }, say("interference")));
    row.append(make("button", { onclick: () => openConfirm(say("stalemate_announce"), say("apply"), () => ask({ do: "stalemate", announced: true })) }, say("stalemate_announce")));
    if (match.last?.shot) row.append(make("button", { onclick: async () => (await ask({ do: "dispute", shot: match.last.shot.number })) && toast(say("dispute_done")) }, say("dispute")));
    if (match.cue_ball === "kitchen" && !match.break)
      for (const number of match.calls.balls.length ? match.calls.balls : match.on_table.filter((b) => b > 0))
        row.append(make("button", { class: "quiet", onclick: () => ask({ do: "spot-request", ball: number }) }, say("spot_request", { ball: ballName(number) })));
    parts.push(row);
  }
  const links = make("div", { class: "row" });
  if (match && me.role !== "viewer") links.append(make("button", { class: "quiet", onclick: () => openSeat(now, me, seated) }, me.seat === 0 || me.seat === 1 ? match.players[me.seat] : say("seat_change")));
  links.append(make("a", { class: "button", href: "/matches" }, say("matches")));
  if (me.role === "referee") links.append(make("a", { class: "button", href: "/setup" }, say("referee")));
  links.append(make("button", { class: "quiet", onclick: turnTheme }, `${say("light")} / ${say("dark")}`));
  parts.push(links);
  if (rows.length) parts.push(make("h2", {}, say("history")), make("ol", { class: "past" }, ...rows.map((row) => make("li", { class: row.fouls.length ? "foul" : "" }, make("span", {}, row.shot ?? "·"), make("span", {}, rulingText(row))))));
  fill($("more-body"), ...parts);
}

async function seated(seat) {
  try {
    me = { ...me, ...(await post("/api/seat", { seat })) };
  } catch (error) {
    toast(error.message, true);
  }
  if (now) show(now);
}

setInterval(() => {
  const element = $("clock");
  if (!element || !now) return;
  const text = clockText(now.clock, heardAt);
  element.textContent = text;
  element.classList.toggle("near", text !== "" && Number(text) <= 10);
}, 250);

me = await get("/api/me").catch(() => ({ role: null }));
if (me.role === null) toJoin();
else {
  let first = true;
  listen({
    state: async (state) => {
      await show(state);
      let told = true;
      try {
        told = localStorage.getItem("seat-told") === state.match_id;
        if (first && state.match) localStorage.setItem("seat-told", state.match_id);
      } catch {
        told = true;
      }
      if (first && state.match && me.role === "player" && !told) openSeat(now, me, seated);
      first = false;
    },
    balls: (message) => {
      if (!now) return;
      now.balls = message.balls;
      calling(now);
    },
    away: toJoin,
  });
}
