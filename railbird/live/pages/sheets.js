// Sheets that come up from below: what really happened, what somebody saw, the clip again, are you sure.
import { $, make, fill, say, named, ask, get, post, toast, ballName, rulingText } from "/static/common.js";
import { ballIcon } from "/static/table.js";

const POCKETS = ["foot-left", "foot-right", "side-left", "side-right", "head-left", "head-right"];
const ENTERED = ["touched-ball", "no-foot", "double-hit", "push", "balls-moving", "cue-on-table", "out-of-turn", "template"];

function offerText(offer) {
  if (offer.kind === "first") return say("reading_first", { ball: ballName(offer.detail.ball) });
  if (offer.kind === "call") return say("reading_call", { ball: ballName(offer.detail.ball), pocket: named("pocket", offer.detail.pocket) });
  if (offer.kind === "suspected") return say(offer.detail.there ? "reading_suspected_yes" : "reading_suspected_no", { foul: named("foul", offer.detail.code) });
  return say(offer.detail.there ? "reading_yes" : "reading_no", { what: offer.detail.what });
}

export function offerButtons(shot, offers, done = () => {}) {
  return make("div", { class: "options" }, ...offers.map((offer) =>
    make("button", { onclick: async () => (await ask({ do: "correct", shot, reading: offer.id })) && done() },
      make("span", {}, offerText(offer), make("small", {}, offer.changes ? rulingText(offer.ruling) : say("reading_same"))))));
}

function open(...parts) {
  const sheet = $("sheet");
  fill(sheet, make("div", { class: "stack" }, ...parts, make("button", { class: "quiet", onclick: () => sheet.close() }, say("close"))));
  if (!sheet.open) sheet.showModal();
  return sheet;
}

const title = (text) => make("h2", { id: "sheet-title" }, text);
const close = () => $("sheet").close();

export async function openWrong(state) {
  const match = state.match;
  const shot = match.last.shot;
  let offers = [];
  try {
    offers = await get(`/api/offers/${shot.number}`);
  } catch (error) {
    toast(error.message, true);
  }
  const correct = async (facts) => (await ask({ do: "correct", shot: shot.number, ...facts })) && close();
  const parts = [title(say("wrong_title")), make("p", { class: "dim" }, say("wrong_hint"))];
  if (offers.length) parts.push(offerButtons(shot.number, offers, close));

  const onTable = Object.keys(shot.facts.start ?? {}).map(Number).filter((b) => b > 0);
  const balls = (onTable.length ? onTable : match.on_table.filter((b) => b > 0)).sort((a, b) => a - b);
  parts.push(make("h3", {}, say("fact_first")));
  parts.push(make("div", { class: "chips" },
    ...balls.map((ball) => make("button", { "aria-pressed": String(ball === shot.first), "aria-label": ballName(ball), onclick: () => correct({ first: ball }) }, ballIcon(ball))),
    make("button", { "aria-pressed": String(shot.first === null), onclick: () => correct({ first: 0 }) }, say("fact_nothing"))));

  parts.push(make("h3", {}, say("fact_rail")));
  parts.push(make("div", { class: "row" }, make("button", { onclick: () => correct({ rail: true }) }, say("yes")), make("button", { onclick: () => correct({ rail: false }) }, say("no"))));

  parts.push(make("h3", {}, say("fact_down")), make("p", { class: "dim" }, say("fact_down_hint")));
  const down = {};
  for (const event of shot.facts.events) if (event.kind === "pocket") down[event.ball] = event.pocket;
  const chips = make("div", { class: "chips" });
  const pockets = make("div", { class: "row" });
  const listing = make("p", { class: "dim" });
  const draw = () => {
    fill(chips, ...[0, ...balls].map((ball) => make("button", { "aria-pressed": String(ball in down), "aria-label": ballName(ball), onclick: () => {
      if (ball in down) {
        delete down[ball];
        fill(pockets);
        draw();
      } else fill(pockets, ...POCKETS.map((pocket) => make("button", { onclick: () => { down[ball] = pocket; fill(pockets); draw(); } }, named("pocket", pocket))));
    } }, ballIcon(ball))));
    listing.textContent = Object.entries(down).map(([ball, pocket]) => `${ballName(ball)} → ${named("pocket", pocket)}`).join(", ");
  };
  draw();
  parts.push(chips, pockets, listing, make("button", { onclick: () => correct({ pocketed: down }) }, say("apply")));
  open(...parts);
}

export function openSaw(state) {
  const shot = state.match.last.shot;
  const seen = shot.facts.observed ?? [];
  open(title(say("somebody_saw")), make("div", { class: "options" }, ...ENTERED.map((code) => {
    const there = seen.includes(code);
    return make("button", { "aria-pressed": String(there), onclick: async () => (await ask({ do: "observed", code, there: !there })) && close() },
      there ? say("take_back", { foul: named("foul", code) }) : named("foul", code));
  })));
}

export function openReplay(state) {
  const shot = state.match.last.shot;
  const video = make("video", { src: state.clip.url, controls: true, playsinline: true, autoplay: true, muted: true, loop: true });
  const step = (by) => {
    video.pause();
    video.currentTime = Math.max(0, video.currentTime + by / 30);
  };
  const slow = make("button", { "aria-pressed": "false", onclick: () => {
    video.playbackRate = video.playbackRate < 1 ? 1 : 0.25;
    slow.setAttribute("aria-pressed", String(video.playbackRate < 1));
  } }, say("slow"));
  const event = shot.facts.events.find((e) => e.kind === "contact") ?? shot.facts.events[0];
  const check = make("button", { onclick: async () => {
    check.disabled = true;
    check.textContent = say("checking");
    try {
      const found = await post(`/api/check/shot/${shot.number}?at=${event.t_s}`);
      window.open(found.page, "_blank", "noopener");
      check.textContent = say("full_check");
    } catch (error) {
      check.textContent = say("check_failed");
      toast(error.message, true);
    }
    check.disabled = false;
  } }, say("full_check"));
  const sheet = open(title(rulingText(shot.ruling)), video,
    make("div", { class: "row" }, make("button", { onclick: () => step(-1), "aria-label": say("step_back") }, "◀︎"), slow, make("button", { onclick: () => step(1), "aria-label": say("step_on") }, "▶︎")),
    make("div", { class: "row" }, make("button", { onclick: async () => (await ask({ do: "dispute", shot: shot.number })) && toast(say("dispute_done")) }, say("dispute")), event ? check : null));
  sheet.addEventListener("close", () => video.pause(), { once: true });
}

export function openMoment(shot, at) {
  open(title(say("doubt_title")), make("img", { src: `/api/moment/${shot}.jpg?at=${at}`, alt: "", width: "100%" }));
}

export function openConfirm(question, answer, then) {
  open(title(question), make("button", { class: "main", onclick: () => { close(); then(); } }, answer));
}

export function openSeat(state, me, then) {
  const pick = (seat) => () => { close(); then(seat); };
  open(title(say("join_who")), make("div", { class: "options" },
    ...state.match.players.map((name, seat) => make("button", { "aria-pressed": String(me.seat === seat), onclick: pick(seat) }, name)),
    make("button", { "aria-pressed": String(me.seat === null), onclick: pick(null) }, say("join_both"))));
}
