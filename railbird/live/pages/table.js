// Draws the table from above: balls, paths, rings; lengthwise for the wall, upright for a phone.

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["#f7f3e6", "#f1c22e", "#2257b5", "#d2352c", "#5c3690", "#ec7a1e", "#1f7f49", "#8a2226", "#17191c"];
const RAIL_MM = 130;

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null) element.setAttribute(key, value);
  element.append(...children.filter(Boolean));
  return element;
}

export const colour = (ball) => COLOURS[ball === 0 ? 0 : ((ball - 1) % 8) + 1];

// A ball of radius r around (0, 0): stripes are white with a band, the number stands in a white disc.
// Small ones carry a larger disc, so that the number can be read.
export function drawBall(ball, r, small = false) {
  const group = svg("g", { "data-ball": ball });
  const stripe = ball > 8;
  group.append(svg("circle", { r, fill: stripe ? COLOURS[0] : colour(ball), stroke: "#000", "stroke-opacity": 0.35, "stroke-width": r * 0.06 }));
  if (stripe) {
    const h = r * 0.62;
    const w = Math.sqrt(r * r - h * h);
    group.append(svg("path", { d: `M ${-w} ${-h} A ${r} ${r} 0 0 0 ${-w} ${h} L ${w} ${h} A ${r} ${r} 0 0 0 ${w} ${-h} Z`, fill: colour(ball) }));
  }
  if (ball > 0) {
    group.append(svg("circle", { r: r * (small ? (stripe ? 0.58 : 0.68) : 0.52), fill: COLOURS[0] }));
    const text = svg("text", { "font-size": r * (ball > 9 ? 0.62 : 0.74) * (small ? (stripe ? 1.28 : 1.42) : 1), fill: "#15181a", y: r * 0.03 });
    text.textContent = String(ball);
    group.append(text);
  }
  if (!small) group.append(svg("circle", { cx: -r * 0.34, cy: -r * 0.38, r: r * 0.2, fill: "#fff", "fill-opacity": 0.3 }));
  return group;
}

export function ballIcon(ball, gone = false) {
  const icon = svg("svg", { viewBox: "-50 -50 100 100", class: gone ? "ball gone" : "ball", "aria-hidden": "true" });
  icon.append(drawBall(ball, 46));
  return icon;
}

export class TableView {
  // lengthwise: head end on the left; else upright, head end at the bottom, as a player at the head sees it.
  constructor(element, { lengthwise = true } = {}) {
    this.element = element;
    this.lengthwise = lengthwise;
    this.size = null;
    this.onBall = null;
    this.onPocket = null;
    this.pickable = new Set();
    this.pockets = false;
    this.chosenBall = null;
    this.chosenPocket = null;
    this.places = {};
    this.layers = {};
  }

  setTable(table) {
    const size = { width: table.width_m * 1000, length: table.length_m * 1000, r: (table.ball_m * 1000) / 2 };
    if (this.size && this.size.width === size.width && this.size.length === size.length) return;
    this.size = size;
    const [w, h] = this.lengthwise ? [size.length, size.width] : [size.width, size.length];
    this.element.setAttribute("viewBox", `${-RAIL_MM} ${-RAIL_MM} ${w + 2 * RAIL_MM} ${h + 2 * RAIL_MM}`);
    const base = svg("g");
    base.append(svg("rect", { class: "wood", x: -RAIL_MM, y: -RAIL_MM, width: w + 2 * RAIL_MM, height: h + 2 * RAIL_MM, rx: 70 }));
    base.append(svg("rect", { class: "nose", x: -48, y: -48, width: w + 96, height: h + 96, rx: 18 }));
    base.append(svg("rect", { class: "cloth", x: 0, y: 0, width: w, height: h }));
    const { width, length } = size;
    base.append(this.line([0, length / 4], [width, length / 4]));
    base.append(this.dot([width / 2, length * 0.75], 14, "spot"));
    base.append(this.dot([width / 2, length * 0.25], 9, "spot"));
    for (const k of [1, 2, 3, 5, 6, 7]) for (const x of [-88, width + 88]) base.append(this.dot([x, (length * k) / 8], 9, "sight"));
    for (const k of [1, 2, 3]) for (const y of [-88, length + 88]) base.append(this.dot([(width * k) / 4, y], 9, "sight"));
    for (const [, at] of this.pocketPlaces()) base.append(this.dot(at, 62, "pocket"));
    this.layers = {};
    this.element.replaceChildren(base);
    for (const name of ["paths", "ghosts", "balls", "picks"]) {
      this.layers[name] = svg("g");
      this.element.append(this.layers[name]);
    }
  }

  pocketPlaces() {
    const { width, length } = this.size;
    return [
      ["head-left", [-18, -18]], ["head-right", [width + 18, -18]], ["side-left", [-46, length / 2]],
      ["side-right", [width + 46, length / 2]], ["foot-left", [-18, length + 18]], ["foot-right", [width + 18, length + 18]],
    ];
  }

  at([x, y]) {
    return this.lengthwise ? [y, x] : [x, this.size.length - y];
  }

  line(a, b) {
    const [x1, y1] = this.at(a);
    const [x2, y2] = this.at(b);
    return svg("line", { class: "string", x1, y1, x2, y2 });
  }

  dot(place, r, name) {
    const [cx, cy] = this.at(place);
    return svg("circle", { class: name, cx, cy, r });
  }

  // balls: number -> [x, y] metres; faded: balls drawn faintly; ghosts: where balls are to be put back.
  draw({ balls = {}, paths = {}, ghosts = {}, faded = null }) {
    if (!this.size) return;
    this.places = balls;
    const lines = [];
    for (const [ball, rows] of Object.entries(paths)) {
      if (rows.length < 2) continue;
      const points = rows.map(([, x, y]) => this.at([x * 1000, y * 1000]).map((v) => v.toFixed(1)).join(",")).join(" ");
      lines.push(svg("polyline", { class: "path", points, stroke: Number(ball) === 8 ? "#0b0c0d" : colour(Number(ball)) }));
    }
    this.layers.paths.replaceChildren(...lines);
    this.layers.ghosts.replaceChildren(
      ...Object.values(ghosts).map(([x, y]) => {
        const [cx, cy] = this.at([x * 1000, y * 1000]);
        return svg("circle", { class: "ghost", cx, cy, r: this.size.r * 1.15 });
      }),
    );
    const radius = this.size.r * (this.lengthwise ? 1.5 : 1.6); // a little larger than life, to be read across a room
    const drawn = [];
    for (const [key, [x, y]] of Object.entries(balls)) {
      const ball = Number(key);
      const [cx, cy] = this.at([x * 1000, y * 1000]);
      const group = drawBall(ball, radius, true);
      group.setAttribute("transform", `translate(${cx.toFixed(1)} ${cy.toFixed(1)})`);
      if (faded && !faded.has(ball)) group.setAttribute("class", "faded");
      drawn.push(group);
      if (ball === this.chosenBall) drawn.push(svg("circle", { class: "ring", cx, cy, r: radius * 1.45 }));
    }
    this.layers.balls.replaceChildren(...drawn);
    this.drawPicks();
  }

  drawPicks() {
    const picks = [];
    if (this.pockets)
      for (const [name, place] of this.pocketPlaces()) {
        const [cx, cy] = this.at(place);
        const pick = svg("circle", {
          class: name === this.chosenPocket ? "pocket-pick chosen" : "pocket-pick", cx, cy, r: 112,
          tabindex: 0, role: "button", "aria-label": this.pocketLabel?.(name) ?? name, "data-pocket": name,
        });
        const choose = () => this.onPocket?.(name);
        pick.addEventListener("click", choose);
        pick.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && choose());
        picks.push(pick);
      }
    if (this.pickable.size) {
      const [x, y, w, h] = this.element.getAttribute("viewBox").split(" ");
      const all = svg("rect", { class: "touch", x, y, width: w, height: h });
      all.addEventListener("click", (event) => this.touched(event));
      picks.unshift(all);
    }
    this.layers.picks.replaceChildren(...picks);
  }

  // The nearest ball that may be picked, within a thumb's breadth.
  touched(event) {
    const matrix = this.element.getScreenCTM(); // knows where the picture lies in its box, letterboxed or not
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const here = [point.x, point.y];
    const scale = 1 / matrix.a;
    let best = null;
    for (const [key, [x, y]] of Object.entries(this.places)) {
      if (!this.pickable.has(Number(key))) continue;
      const [cx, cy] = this.at([x * 1000, y * 1000]);
      const distance = Math.hypot(cx - here[0], cy - here[1]);
      if (distance < Math.max(44 * scale, this.size.r * 2) && (!best || distance < best[0])) best = [distance, Number(key)];
    }
    if (best) this.onBall?.(best[1]);
  }
}
