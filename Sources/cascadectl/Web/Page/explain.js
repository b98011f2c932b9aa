// Why a node exists or is gone, what would go with it, and what is around it.
import { ask, count, h, link, moment, nodeText, place } from "./app.js";
import { chainPicture, graphPicture } from "./picture.js";

function form(node) {
  const go = (event) => {
    event.preventDefault();
    const typed = new FormData(event.target).get("node").trim();
    document.activeElement.blur();
    location.hash = link("why", { node: typed });
  };
  return h("form.row", { onsubmit: go, role: "search" },
    h("input.grow", { name: "node", value: node, "data-key": "node", "aria-label": "node or file",
      placeholder: "collection/key", autocomplete: "off", spellcheck: "false" }),
    h("button.strong", { type: "submit", "data-key": "explain" }, "Explain"));
}

const pill = (text) => h(`span.pill.${text}`, {}, text);

function deletion(why) {
  const deleted = why.deleted;
  const author = deleted.author ? ` by ${deleted.author}` : "";
  const first = deleted.began;
  const began = first ? `It began in batch ${first.batch}, ${first.id}.` : "";
  const cause = { sweep: "An application's change began it.",
    unreachable: "Nothing kept it: no edge, or no chain of edges from the roots." }[deleted.cause]
    ?? "A change file began it.";
  return [
    h("p", {}, `Deleted ${moment(deleted.at)}${author}, in `,
      h("a", { href: link("batches") }, `batch ${deleted.batch}`), `. ${cause} ${began}`),
    h("div.picture", { tabindex: "0", "aria-label": "the chain of causes" },
      chainPicture(deleted.chain)),
  ];
}

function holders(why) {
  const total = why.holderCount ?? 0;
  const leases = why.holders.filter((holder) => holder.lease);
  const edges = why.holders.filter((holder) => !holder.lease);
  return [
    h("p", {}, total
      ? count(total, "edge points at it or holds it.", "edges point at it or hold it.")
      : "No edge points at it or holds it."),
    (why.marked ?? []).map(({ because, name, at }) => h("p.reason", {},
      because ? `marked as gone for others because of ${nodeText(because)}, by ${name}, at ${moment(at)}`
        : `marked as gone for others, as was seen at ${moment(at)}`)),
    leases.map(({ lease }) => h("p.reason", {},
      `leased by ${lease.owner ?? "an application"} until ${moment(lease.expires * 1000)}`)),
    edges.length ? h("details", { open: edges.length < 5 }, h("summary", {}, "the edges"),
      h("ul.plain.events", {}, edges.slice(0, 50).map(holder))) : null,
  ];
}

const holder = (edge) => h("li", {}, h("b", {}, edge.name), h("span", {},
  h("a", { href: link("why", { node: nodeText(edge.from) }) }, nodeText(edge.from)), " → ",
  nodeText(edge.to), h("div.soft.small", {}, (edge.rules ?? []).join(", "))));

function planText(plan) {
  const names = Object.entries(plan.byCollection).map(([n, v]) => `${v} of ${n}`).join(", ");
  return `Its deletion would delete ${count(plan.deletedCount, "node", "nodes")}: ${names}.`;
}

async function surroundings(node) {
  const [{ plan }, graph] = await Promise.all([
    ask("Plan", { nodes: [node] }), ask("Graph", { node, depth: 2, limit: 60 })]);
  return h("section.card", {}, h("h2", {}, "Around it"), h("p", {}, planText(plan)),
    plan.denied.slice(0, 10).map((reason) => h("p.reason", {}, reason.message)),
    h("p.soft.small", {}, "Red is what would go with it; dashed is what would refuse that."),
    h("div.picture", { tabindex: "0", "aria-label": "the graph around the node" },
      graphPicture(graph)));
}

export async function drawWhy() {
  const node = place().query.get("node") ?? "";
  const head = [h("h1", {}, "Why"), h("section.card", {}, form(node))];
  if (!node) {
    return [head, h("p.empty", {}, "Why does a node exist, or why is it gone? Type it above.")];
  }
  let why;
  try {
    ({ why } = await ask("Why", { node }));
  } catch (error) {
    return [head, h("p.card.reason", {}, error.message)];
  }
  const isNode = Array.isArray(why.node);
  const answer = why.state === "deleted" ? deletion(why)
    : why.state === "alive" ? holders(why)
      : h("p", {}, "It is not known: it never existed, or its record was deleted.");
  return [head, h("section.card", {},
    h("div.row", {}, h("h2.path.grow", {}, nodeText(why.node)), pill(why.state)), answer),
  why.state === "alive" && isNode ? await surroundings(node) : null];
}
