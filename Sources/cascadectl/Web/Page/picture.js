// Pictures: a chain of causes, and a graph, as SVG.
import { h, link, nodeText, plain } from "./app.js";

function s(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.flat(9).filter(Boolean).map(plain));
  return element;
}

const short = (text, most = 30) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const widthOf = (text) => Math.max(60, Math.min(text.length, 30) * 7.4 + 24);

const picture = (width, height, ...children) =>
  s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group" }, children);

// A box with the name of a node, which leads to its explanation.
function box(node, x, y, kind, more = 0) {
  const text = nodeText(node);
  const width = widthOf(text);
  return s("a", { href: link("why", { node: text }), class: kind, "aria-label": text },
    s("title", {}, text),
    s("rect", { x: x - width / 2, y: y - 15, width, height: 30, rx: 7 }),
    s("text", { x, y: y + 4.5, "text-anchor": "middle" }, short(text)),
    more ? s("text", { x, y: y + 27, "text-anchor": "middle", class: "more" }, `+${more} more`)
      : null);
}

function tip(x, y, dx, dy, kind) {
  const size = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / size, dy / size];
  const points = [[x, y], [x - 8 * ux + 4 * uy, y - 8 * uy - 4 * ux],
    [x - 8 * ux - 4 * uy, y - 8 * uy + 4 * ux]];
  return s("polygon", { points: points.map((p) => p.join(",")).join(" "), class: kind });
}

// The cause is at the top, the node that was asked for at the bottom.
export function chainPicture(chain) {
  const steps = chain.length > 40 ? [...chain.slice(0, 20), null, ...chain.slice(-20)] : chain;
  const rows = [...steps].reverse();
  const step = 78;
  const half = (one) => (one ? widthOf(nodeText(one.node)) / 2 + 4 : 0);
  const middle = Math.max(90, ...rows.map(half));
  const width = middle + Math.max(middle, 270);
  const parts = rows.map((one, index) => {
    const y = 24 + index * step;
    if (!one) {
      return s("text", { x: middle, y, "text-anchor": "middle", class: "more" },
        `${chain.length - 40} steps left out`);
    }
    const name = one.edge?.name ?? "";
    const arrow = index === 0 ? null : [
      s("path", { d: `M${middle} ${y - step + 16}V${y - 24}`, class: "gone" }),
      tip(middle, y - 16, 0, 1, "gone"),
      s("text", { x: middle + 12, y: y - step / 2 + 2, class: "label" }, name),
      s("text", { x: middle + 12, y: y - step / 2 + 15, class: "label" }, one.rule ?? "")];
    return [arrow, box(one.node, middle, y, index === rows.length - 1 ? "gone middle" : "gone")];
  });
  return picture(width, 24 + (rows.length - 1) * step + 30, parts);
}

// A bar for each minute; the last one is the current minute.
export function minuteChart(values) {
  const [step, height] = [10, 60];
  const most = Math.max(1, ...values);
  const bars = values.map((value, index) => {
    const size = value ? Math.max(3, (height * value) / most) : 1;
    const ago = values.length - 1 - index;
    return s("rect", { x: index * step, y: height - size, width: step - 3, height: size, rx: 1,
      class: value ? "some" : "none" },
    s("title", {}, `${value.toLocaleString("en")} nodes, ${ago ? `${ago} min ago` : "now"}`));
  });
  const chart = s("svg", { viewBox: `0 0 ${values.length * step - 3} ${height}`, class: "chart",
    preserveAspectRatio: "none", role: "img", "aria-label": "nodes deleted in each minute" }, bars);
  return [chart, h("div.axis", {}, h("span", {}, `${values.length} min ago`), h("span", {}, "now"))];
}

const keyOf = (node) => JSON.stringify(node);

// The column of each node: edges lead to the right, as far as that is possible.
function columnsOf(nodes, edges) {
  const columns = new Map([[keyOf(nodes[0].node), 0]]);
  for (const node of nodes.toSorted((a, b) => a.depth - b.depth).slice(1)) {
    const key = keyOf(node.node);
    const incoming = edges.find((e) => keyOf(e.to) === key && columns.has(keyOf(e.from)));
    const outgoing = edges.find((e) => keyOf(e.from) === key && columns.has(keyOf(e.to)));
    if (incoming) columns.set(key, columns.get(keyOf(incoming.from)) + 1);
    else if (outgoing) columns.set(key, columns.get(keyOf(outgoing.to)) - 1);
    else columns.set(key, 1);
  }
  return columns;
}

function placesOf(nodes, edges) {
  const columns = columnsOf(nodes, edges);
  const groups = [...Map.groupBy(nodes, (node) => columns.get(keyOf(node.node)))]
    .sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
  const height = Math.max(...groups.map((group) => group.length)) * 62 + 20;
  const places = new Map();
  let left = 10;
  for (const group of groups) {
    const width = Math.max(...group.map((node) => widthOf(nodeText(node.node))));
    group.forEach((node, index) => places.set(keyOf(node.node), {
      x: left + width / 2, y: (height * (index + 0.5)) / group.length,
      half: widthOf(nodeText(node.node)) / 2, column: left }));
    left += width + 110;
  }
  return { places, width: left - 100, height };
}

function edgePath(edge, from, to, kind) {
  const isSame = from.column === to.column;
  const isRight = to.x > from.x;
  const x1 = from.x + (isRight || isSame ? from.half : -from.half);
  const x2 = to.x + (isRight && !isSame ? -to.half - 2 : to.half + 2);
  const bend = isSame ? 45 : (x2 - x1) / 2;
  const d = `M${x1} ${from.y}C${x1 + bend} ${from.y} ${isSame ? x2 + bend : x2 - bend} ${to.y} `
    + `${x2} ${to.y}`;
  const rules = (edge.rules ?? []).join(", ");
  const x = isSame ? Math.max(x1, x2) + 34 : (x1 + x2) / 2;
  return [s("path", { d, class: kind }, s("title", {}, `${edge.name} ${rules}`)),
    tip(x2, to.y, isSame || !isRight ? -1 : 1, 0, kind),
    s("text", { x, y: (from.y + to.y) / 2 - 4, "text-anchor": "middle", class: "label" },
      short(edge.name, 16))];
}

export function graphPicture({ nodes, edges }) {
  const { places, width, height } = placesOf(nodes, edges);
  const gone = new Set(nodes.filter((node) => node.goes).map((node) => keyOf(node.node)));
  const lines = edges.map((edge) => {
    const [from, to] = [places.get(keyOf(edge.from)), places.get(keyOf(edge.to))];
    if (!from || !to) return null;
    const isGone = gone.has(keyOf(edge.from)) || gone.has(keyOf(edge.to));
    return edgePath(edge, from, to, edge.denies ? "denies" : isGone ? "gone" : "plain");
  });
  const boxes = nodes.map((node, index) => {
    const { x, y } = places.get(keyOf(node.node));
    const kind = [index === 0 ? "middle" : "", node.goes ? "gone" : ""].join(" ").trim();
    return box(node.node, x, y, kind, node.more);
  });
  return picture(width, height, lines, boxes);
}
