// Match set-up, the camera's picture, and what only a referee does: state, penalties, codes, sound.
import { $, make, fill, say, named, speakIn, listen, theme, toJoin, get, ask, toast, joinByLink, ballName } from "/static/common.js";
import { openConfirm } from "/static/sheets.js";
import { ballIcon } from "/static/table.js";

theme();
await joinByLink();
const form = $("form");
const field = (name) => form.elements.namedItem(name);
const RULES = { "8-ball": ["wpa-2025", "wpa-2008"], "9-ball": ["wpa-2025", "wpa-2008"], "10-ball": ["wpa-2025", "wpa-2008"], "14.1": ["wpa-2025", "wpa-2008", "est-14.1"] };
const CLOCKS = ["", 25, 30, 35, 40, 45, 60];
let now = null;
let filled = "";

function options(select, rows, chosen) {
  fill(select, ...rows.map(([value, text]) => make("option", { value, selected: String(value) === String(chosen) }, text)));
}

function fit() {
  const game = field("game").value;
  const rules = field("rules").value;
  if (!game) return; // the state has not come yet
  options(field("rules"), RULES[game].map((code) => [code, named("rules", code)]), rules);
  $("race-field").hidden = game === "14.1";
  $("points-field").hidden = game !== "14.1";
  $("three-field").hidden = game !== "9-ball" || field("rules").value !== "wpa-2025";
  options(field("breaker"), [[0, field("a").value || say("player_a")], [1, field("b").value || say("player_b")]], field("breaker").value || 0);
}

async function show(state) {
  now = state;
  await speakIn(state.language);
  $("camera").dataset.state = state.camera.state;
  $("camera").textContent = say(`camera_${state.camera.state}`);
  $("volume").value = state.sound.volume;
  $("fouls-only").checked = state.sound.fouls_only;
  const key = `${state.match_id}:${state.language}`;
  if (filled !== key) {
    filled = key;
    const match = state.match;
    field("a").value ||= match?.players[0] ?? "";
    field("b").value ||= match?.players[1] ?? "";
    options(field("game"), Object.keys(RULES).map((code) => [code, named("game", code)]), match?.game ?? "8-ball");
    options(field("rules"), [[match?.rules ?? "wpa-2025", ""]], match?.rules);
    options(field("break_order"), ["alternate", "winner", "loser"].map((code) => [code, say(`order_${code}`)]), match?.break_order);
    options(field("shot_clock_s"), CLOCKS.map((s) => [s, s === "" ? say("clock_none") : say("seconds", { n: s })]), match?.shot_clock_s ?? "");
    field("race_to").value = match?.race_to ?? 5;
    field("points_to").value = match?.points_to ?? 100;
    field("language").value = state.language;
    fit();
  }
  stateForm(state.match);
  powers(state.match);
}

form.addEventListener("change", fit);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const game = field("game").value;
  const clock = field("shot_clock_s").value;
  const command = {
    do: "new-match", game, rules: field("rules").value, players: [field("a").value, field("b").value],
    breaker: Number(field("breaker").value), break_order: field("break_order").value, language: field("language").value,
    race_to: Number(field("race_to").value), points_to: Number(field("points_to").value),
    shot_clock_s: clock === "" ? null : Number(clock), three_ball_rule: game === "9-ball" ? field("three_ball_rule").checked : null,
  };
  const begin = async () => {
    if (await ask(command)) location.href = "/phone";
  };
  if (now?.match && !now.match.winner && now.match.shots) openConfirm(say("begin_sure"), say("begin"), begin);
  else begin();
});

let stated = "";
function stateForm(match) {
  const box = $("state-form");
  $("referee").hidden = !match || Boolean(match.winner);
  if (!match) return;
  const key = JSON.stringify([match.score, match.on_table, match.shooter, match.groups, match.cue_ball, now.language]);
  if (key === stated || $("referee").open) return;
  stated = key;
  const on = new Set(match.on_table);
  const all = match.game === "9-ball" ? 9 : match.game === "10-ball" ? 10 : 15;
  const shooter = make("select", { name: "shooter" });
  options(shooter, match.players.map((name, seat) => [seat, name]), match.players.indexOf(match.shooter));
  const cue = make("select", { name: "cue" });
  options(cue, ["as-lies", "in-hand", "kitchen"].map((code) => [code, named("cue", code)]), match.cue_ball);
  const groups = make("select", { name: "groups" });
  options(groups, [["", say("open")], ["solids", `${match.players[0]}: ${named("group", "solids")}`], ["stripes", `${match.players[0]}: ${named("group", "stripes")}`]], match.groups?.[match.players[0]] ?? "");
  const scores = match.players.map((name) => make("input", { type: "number", value: match.score[name], min: -999, max: 999, "aria-label": name }));
  const chips = make("div", { class: "chips" });
  const draw = () => fill(chips, ...Array.from({ length: all }, (_, i) => i + 1).map((ball) => make("button", { type: "button", "aria-pressed": String(on.has(ball)), "aria-label": ballName(ball), onclick: () => { on.has(ball) ? on.delete(ball) : on.add(ball); draw(); } }, ballIcon(ball, !on.has(ball)))));
  draw();
  fill(box,
    make("label", { class: "field" }, say("shoots"), shooter), make("label", { class: "field" }, say("cue_ball"), cue),
    match.game === "8-ball" ? make("label", { class: "field" }, say("groups"), groups) : null,
    make("div", { class: "row" }, ...match.players.map((name, seat) => make("label", { class: "field" }, `${say("score")}: ${name}`, scores[seat]))),
    make("h2", {}, say("on_table")), chips,
    make("button", { class: "main", type: "button", onclick: async () => {
      const command = { do: "set-state", shooter: Number(shooter.value), cue_ball: cue.value, on_table: [0, ...on].sort((a, b) => a - b), score: scores.map((s) => Number(s.value)) };
      if (match.game === "8-ball" && groups.value) command.groups = groups.value === "solids" ? ["solids", "stripes"] : ["stripes", "solids"];
      if (await ask(command)) { $("referee").open = false; stated = ""; toast(say("save")); }
    } }, say("save")));
}

function powers(match) {
  const box = $("powers");
  if (!match || match.winner) return fill(box);
  const parts = [];
  for (const [seat, name] of match.players.entries()) {
    const level = make("select", { "aria-label": say("penalty") });
    options(level, ["warning", "foul", "serious", "rack", "match"].map((code) => [code, say(`level_${code}`)]), "warning");
    parts.push(make("h2", {}, `${say("penalty")}: ${name}`), make("div", { class: "row" }, level,
      make("button", { type: "button", onclick: () => openConfirm(`${say("penalty")}: ${name}`, level.selectedOptions[0].textContent, () => ask({ do: "penalty", seat, level: level.value })) }, say("apply"))));
    if (match.fouls_in_row[name] === 2 && match.game !== "8-ball") parts.push(make("button", { type: "button", onclick: () => ask({ do: "warn", seat }) }, say("warn", { player: name })));
  }
  parts.push(make("div", { class: "row" },
    make("button", { type: "button", onclick: () => openConfirm(say("stalemate"), say("apply"), () => ask({ do: "stalemate" })) }, say("stalemate")),
    make("button", { type: "button", onclick: () => ask({ do: "undo" }) }, say("undo")), make("button", { type: "button", onclick: () => ask({ do: "redo" }) }, say("redo"))));
  return fill(box, ...parts);
}

function picture() {
  const image = $("picture");
  image.onload = () => { image.hidden = false; };
  image.onerror = () => { image.hidden = true; };
  image.src = `/api/picture?${Date.now()}`;
}
$("refresh").addEventListener("click", picture);
$("volume").addEventListener("change", () => ask({ do: "sound", volume: Number($("volume").value) }));
$("fouls-only").addEventListener("change", () => ask({ do: "sound", fouls_only: $("fouls-only").checked }));

const me = await get("/api/me").catch(() => ({ role: null }));
if (me.role !== "referee") toJoin();
else {
  if (me.codes) {
    $("codes").hidden = false;
    listCodes(me.codes);
  }
  listen({ state: async (state) => { await show(state); if (me.codes) listCodes(me.codes); }, away: toJoin });
  picture();
}

function listCodes(codes) {
  fill($("code-list"), ...Object.entries(codes).map(([role, code]) => make("div", {}, make("dt", { class: "dim" }, say(`role_${role}`)), make("dd", {}, code))));
}
