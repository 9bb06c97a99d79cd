// The scoreboard on the wall: score, table, last call, who may join, and the voice.
import { $, make, fill, say, doubtText, remarkText, named, speakIn, listen, theme, turnTheme, toJoin, get, rulingText, articleText, nextText, callText, sureness, clockText, ballName } from "/static/common.js";
import { TableView, ballIcon } from "/static/table.js";
import { startVoice, speak, voiceOn, setFoulsOnly } from "/static/voice.js";

theme();
const view = new TableView($("table"));
let now = null;
let heardAt = Date.now();
let me = { role: null };

const GROUPS = { solids: [1, 2, 3, 4, 5, 6, 7], stripes: [9, 10, 11, 12, 13, 14, 15] };

async function show(state) {
  now = state;
  heardAt = Date.now();
  await speakIn(state.language);
  setFoulsOnly(state.sound.fouls_only);
  const match = state.match;
  const rules = match ? `${named("game", match.game)} · ${named("rules", match.rules)}` : "";
  $("what").textContent = [state.table_name, rules].filter(Boolean).join(" · ");
  const cameraState = match?.paused ? "paused" : state.camera.state;
  $("camera").dataset.state = cameraState;
  $("camera").textContent = say(`camera_${cameraState}`);
  $("sound").textContent = say(voiceOn() ? "sound_on" : "sound_off");
  $("sound").setAttribute("aria-pressed", String(voiceOn()));
  $("full").textContent = say("full_screen");
  for (const seat of [0, 1]) player(seat, match);
  $("race").textContent = !match ? "" : match.race_to ? say("race_to", { n: match.race_to }) : match.points_to ? say("points_to", { n: match.points_to }) : "";
  tick();
  table(state);
  call(state);
  history(match);
  document.title = match ? `${match.players[0]} ${match.score[match.players[0]]} : ${match.score[match.players[1]]} ${match.players[1]}` : "railbird";
}

function player(seat, match) {
  const box = $(`player${seat}`);
  if (!match) return fill(box, make("p", { class: "name" }, "–"));
  const name = match.players[seat];
  const up = match.shooter === name && !match.winner;
  const group = match.groups?.[name];
  const score = String(match.score[name]).replace("-", "−");
  box.className = `player${up ? " up" : ""}${score.length === 2 ? " long" : ""}${score.length > 2 ? " longer" : ""}`;
  const fouls = match.fouls_in_row[name];
  const facts = make("div", { class: "facts" });
  facts.append(make("p", { class: "at" }, match.winner === name ? "★" : up ? say("at_table") : ""));
  if (fouls && match.game !== "8-ball") facts.append(make("p", { class: "fouls" }, `${"●".repeat(Math.min(3, fouls))} ${say("fouls", { n: fouls })}`));
  if (match.game === "8-ball") {
    const box = make("div", { class: "group" }, make("span", {}, group ? named("group", group) : say("open_table")));
    if (group) {
      const left = GROUPS[group].filter((ball) => match.on_table.includes(ball));
      box.append(make("div", { class: "rack" }, ...(left.length ? left : [8]).map((ball) => ballIcon(ball))));
    }
    facts.append(box);
  } else if (up && match.game !== "14.1") {
    const left = match.on_table.filter((ball) => ball > 0);
    facts.append(make("div", { class: "rack" }, ...left.map((ball) => ballIcon(ball))));
  }
  return fill(box, make("h1", { class: "name" }, name), facts, make("p", { class: "number" }, score));
}

function table(state) {
  const match = state.match;
  if (!match) return view.setTable({ length_m: 2.54, width_m: 1.27, ball_m: 0.05715 });
  view.setTable(match.table);
  const shot = match.last?.shot;
  const before = shot?.facts.start ?? {};
  const still = Object.keys(state.balls).length ? state.balls : (shot?.facts.rest ?? {});
  view.draw({ balls: still, paths: state.put_back || state.camera.state === "shot" ? {} : (shot?.paths ?? {}), ghosts: state.put_back ? before : {} });
}

function call(state) {
  const match = state.match;
  const box = $("call");
  box.className = "panel call";
  if (!match) return fill(box, make("p", { class: "said" }, say("no_match")), make("a", { class: "button", href: "/setup" }, say("begin")));
  const parts = [make("h2", {}, say("last_call"))];
  const ruling = match.last?.ruling;
  if (match.paused) parts.push(make("p", { class: "doubt" }, say("paused_text")));
  if (state.alert) parts.push(make("p", { class: "remark" }, say(`alert_${state.alert.code}`, { what: state.alert.what })));
  if (match.winner && (!ruling || !ruling.match_winner)) parts.push(make("p", { class: "said" }, say("match_won", { player: match.winner })));
  if (ruling) {
    if (ruling.fouls.length) box.classList.add("foul");
    parts.push(make("p", { class: "said" }, rulingText(ruling)));
    const why = make("p", { class: "why" }, make("span", {}, articleText(ruling)));
    if (ruling.shot !== null) why.append(make("span", { class: ruling.p < 0.95 ? "sure low" : "sure" }, sureness(ruling.p)));
    if (match.last.shot?.corrected) why.append(make("span", {}, say("corrected")));
    parts.push(why);
    if (ruling.needs_referee || (ruling.p < 0.95 && ruling.alternative))
      parts.push(make("p", { class: "doubt" }, doubtText(ruling)));
    for (const remark of match.last.shot?.remarks ?? []) parts.push(make("p", { class: "remark" }, remarkText(remark)));
  } else parts.push(make("p", { class: "said" }, say("no_call_yet")));
  if (match.choice)
    parts.push(make("div", { class: "choose" }, make("b", {}, say("choose_title", { player: match.choice.player })), ...match.choice.options.map((option) => make("span", {}, `· ${named("option", option)}`))));
  if (match.call) parts.push(make("p", { class: "announced" }, `${say("called")}: ${callText(match.call)}`));
  if (state.watch) parts.push(make("p", { class: "announced" }, state.watch.ball ? `${say("watch_on")} · ${say("gap", { ball: ballName(state.watch.ball), mm: state.watch.gap_mm })}` : say("watch_on")));
  if (state.put_back) parts.push(make("p", { class: "announced" }, say("put_back_on")));
  parts.push(make("p", { class: "next" }, nextText(match)));
  return fill(box, ...parts);
}

function history(match) {
  const rows = (match?.history ?? []).slice(0, -1).reverse().slice(0, 9);
  fill(
    $("history"),
    ...rows.map((row) => make("li", { class: row.fouls.length ? "foul" : "" }, make("span", { class: "n" }, row.shot ?? "·"), make("span", {}, rulingText(row)))),
  );
}

function tick() {
  const text = clockText(now?.clock, heardAt);
  $("clock").hidden = !text;
  $("clock").textContent = text;
  $("clock").classList.toggle("near", text !== "" && Number(text) <= 10);
}
setInterval(tick, 250);

async function joining() {
  try {
    me = await get("/api/me");
  } catch {
    return;
  }
  if (me.role === null) return toJoin();
  if (!me.join) return;
  $("join").hidden = false;
  $("qr").src = "/qr.svg";
  $("scan").textContent = say("scan");
  const [before, after] = say("code_is", { code: "\n" }).split("\n"); // the code stays in one piece
  fill($("code"), before, make("b", {}, me.codes.player), after);
}

$("sound").addEventListener("click", () => {
  startVoice(!voiceOn());
  $("sound").textContent = say(voiceOn() ? "sound_on" : "sound_off");
  $("sound").setAttribute("aria-pressed", String(voiceOn()));
});
$("full").addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()));
$("shade").addEventListener("click", turnTheme);

let first = true;
listen({
  state: async (state) => {
    await show(state);
    if (first) {
      first = false;
      await joining();
    }
  },
  balls: (message) => {
    if (!now) return;
    now.balls = message.balls;
    table(now);
  },
  spoken: (message) => speak(message),
  away: toJoin,
});
