// The views, but for the pictures of a node.
import { act, ask, clock, count, h, link, millis, moment, nodeText, number, state } from "./app.js";
import { drawWhy } from "./explain.js";

const pill = (text) => h(`span.pill.${/^\w+$/.test(text) ? text : "other"}`, {}, text);
const empty = (text) => h("p.empty", {}, text);
const current = () => state.stores.find((store) => store.store === state.store);

export const nodeLink = (node) =>
  h("a", { href: link("why", { node: nodeText(node) }) }, nodeText(node));

const edgeLine = (edge) =>
  edge ? [nodeLink(edge.from), ` –${edge.name}→ `, nodeLink(edge.to)] : [];

function bars(values, unit) {
  const entries = Object.entries(values ?? {}).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...entries.map((entry) => entry[1]));
  return h("div.bars", {}, entries.map(([name, value]) => [
    h("span", {}, name),
    h("meter", { max: most, value, "aria-label": `${name}: ${value} ${unit}` }),
    h("b", {}, number(value)),
  ]));
}

// A table whose rows become blocks where it is narrow.
function table(titles, rows) {
  const cells = (row) => row.map((cell, index) =>
    h("td", { "data-label": titles[index] }, h("div", {}, cell)));
  return h("table.stack", {}, h("thead", {}, h("tr", {}, titles.map((t) => h("th", {}, t)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, cells(row)))));
}

const figures = (pairs) =>
  h("dl.figures", {}, pairs.map(([term, value]) => h("div", {}, h("dt", {}, term),
    h("dd", {}, value))));

// Now

function progress(store) {
  const now = store.progress;
  if (!now) return null;
  const isKnown = now.of > 0;
  const done = isKnown ? `${number(now.done)} of ${number(now.of)} nodes` : number(now.done);
  return h("div.reason", {}, h("div.row", {}, h("strong.grow", {}, now.what), done),
    h("progress", isKnown ? { max: now.of, value: now.done } : {}));
}

function storeCard(store) {
  const name = store.store;
  const isPaused = store.state === "paused";
  const toggle = isPaused
    ? act(`resume-${name}`, "Resume", {
      store: name, method: "Resume", title: "Resume all work?", text: name,
      told: () => "Resumed." })
    : act(`pause-${name}`, "Pause", {
      store: name, method: "Pause", title: "Pause all work?", told: () => "Paused.",
      text: `${name}\nChange files wait and no sweep runs until it is resumed.` });
  return h("section.card", {}, h("div.row", {}, h("h2.path.grow", {}, name), pill(store.state)),
    store.reason ? h("p.reason", {}, store.reason) : null, progress(store),
    figures([["waiting files", number(store.spool?.waiting)],
      ["held files", number(store.spool?.held)],
      ["rejected files", number(store.spool?.rejected)], ["rows to sweep", number(store.journal)],
      ["lock p50", millis(store.lockMs?.p50)], ["p99", millis(store.lockMs?.p99)],
      ["max", millis(store.lockMs?.max)]]),
    state.readOnly ? null : h("div.row.end", {}, act(`sweep-${name}`, "Sweep now", {
      store: name, method: "Sweep", title: "Sweep now?",
      text: `${name}\nEvery kind of sweep but unreferenced runs to its end. What is over the limit `
        + "waits for approval.", told: sweptText }), toggle));
}

const sweptText = ({ sweep }) =>
  `Sweep ${sweep.outcome}: ${count(sweep.deletedCount, "node", "nodes")} deleted`
  + (sweep.plan ? `; plan ${sweep.plan} waits for approval.` : ".");

function eventList(events) {
  if (!events.length) return empty("Nothing has happened since the daemon began.");
  return h("ul.plain.events", {}, [...events].reverse().map((event) =>
    h(`li.${event.priority}${event.isNew ? ".new" : ""}`, {},
      h("time", { title: moment(event.at) }, clock(event.at)), h("b", {}, event.kind),
      h("span", {}, messageOf(event)))));
}

// Without the path of the store, where there is only one.
function messageOf(event) {
  const start = `${event.store}: `;
  const isClear = state.stores.length === 1 && event.message.startsWith(start);
  return isClear ? event.message.slice(start.length) : event.message;
}

const drawNow = () => [
  h("h1", {}, "Now"), state.problems.map((text) => h("p.reason", {}, text)),
  state.stores.map(storeCard),
  h("section.card", {}, h("h2", {}, "Events"), eventList(state.events.slice(-60))),
];

// Sweeps

function lastRun(last) {
  return last ? [`${last.outcome} (${last.why})`, h("div.soft.small", {}, moment(last.at))] : "–";
}

function lastSweep(sweep) {
  if (!sweep) return empty("No sweep has done anything since the daemon began.");
  return [
    h("div.row", {}, h("h2.grow", {}, `Sweep ${sweep.sweep}`), pill(sweep.outcome)),
    h("p.soft", {}, (sweep.kinds ?? []).join(", ")),
    figures([["deleted", number(sweep.deletedCount)], ["batch", sweep.batch ?? "–"],
      ["references removed", number(sweep.edgesRemoved)], ["lock p50", millis(sweep.lockMs?.p50)],
      ["p99", millis(sweep.lockMs?.p99)], ["max", millis(sweep.lockMs?.max)]]),
    h("h3", {}, "By collection"), bars(sweep.byCollection, "nodes"),
    h("h3", {}, "By rule"), bars(sweep.byRule, "nodes"),
    (sweep.blocked ?? []).slice(0, 20).map((reason) => h("p.reason", {}, reason.message)),
  ];
}

function drawSweeps() {
  const store = current();
  const rows = (store?.schedules ?? []).map((one) => [one.kind, h("code", {}, one.schedule),
    one.next ? moment(one.next) : (one.nextWhy ?? "–"), lastRun(one.last)]);
  return [h("h1", {}, "Sweeps"), h("section.card", {}, lastSweep(store?.lastSweep)),
    h("section.card", {}, h("h2", {}, "Schedules"),
      table(["kind", "schedule", "next", "last"], rows)),
    h("section.card", {}, h("h2", {}, "Write lock"),
      h("p.soft.small", {}, "How long the daemon held it, the last thousand times."),
      figures(["p50", "p99", "max"].map((name) => [name, millis(store?.lockMs?.[name])])))];
}

// Batches

function undoneText({ undone }) {
  const left = undone.leftCount ? `; ${number(undone.leftCount)} could not be restored:\n`
    + undone.left.slice(0, 5).map((one) => `${one.what}: ${one.reason}`).join("\n") : ".";
  const dangling = undone.danglingCount ? `\n${count(undone.danglingCount, "reference leads",
    "references lead")} to nothing: the next sweep applies their rules again.` : "";
  return `${count(undone.restored, "node", "nodes")} restored${left}${dangling}`;
}

function undoCell(batch) {
  if (batch.undone) {
    return [`${batch.undone.partly ? "partly " : ""}undone by ${batch.undone.by}`,
      h("div.soft.small", {}, moment(batch.undone.at))];
  }
  if (!batch.undoUntil) return h("span.soft", {}, "cannot be undone");
  return [act(`undo-${batch.batch}`, "Undo", {
    method: "Undo", parameters: { batch: batch.batch }, title: `Undo batch ${batch.batch}?`,
    text: `${count(batch.deletedCount, "node", "nodes")} come back as they were. No rule runs.`,
    told: undoneText }), h("div.soft.small", {}, `until ${moment(batch.undoUntil)}`)];
}

async function drawBatches() {
  const { batches } = await ask("Batches", { newest: true, limit: 100 });
  const rows = batches.map((batch) => [
    [h("strong", {}, number(batch.batch)), h("div.soft.small", {}, moment(batch.at))],
    [batch.cause === "sweep" ? "an application's change" : `change file ${batch.id}`,
      h("div.soft.small", {}, batch.cause === "sweep" ? batch.id : (batch.author ?? ""))],
    [count(batch.deletedCount, "node", "nodes"), h("div.soft.small", {},
      Object.entries(batch.byCollection).map(([n, v]) => `${number(v)} of ${n}`).join(", "))],
    undoCell(batch)]);
  return [h("h1", {}, "Batches"), h("p.soft", {}, "What was deleted together, the newest first."),
    h("section.card", {}, rows.length ? table(["batch", "cause", "deleted", "undo"], rows)
      : empty("Nothing was deleted."))];
}

// Held plans

function approvedText({ receipt }) {
  const reason = receipt.reasons?.[0]?.message;
  return `${receipt.outcome}: ${count(receipt.deletedCount, "node", "nodes")} deleted`
    + (receipt.batch ? `, batch ${receipt.batch}.` : ".") + (reason ? `\n${reason}` : "");
}

const approve = (plan, what) => act(`approve-${plan}`, "Approve", {
  method: "Approve", parameters: { plan }, title: `Approve plan ${plan}?`, grave: true,
  text: `${what}\nThe approval is for this plan only, once.`, told: approvedText });

// A node of a plan, and by what it would go.
const step = ({ node, edge, rule }) => h("li", {}, h("span.grow", {}, nodeLink(node)),
  h("span.soft.small", {}, rule ? `${rule} of ${edge ? edge.name : "a changed reference"}` : ""));

async function steps(plan) {
  const { plan: whole } = await ask("HeldPlan", { plan: plan.plan });
  const rest = whole.deletedCount - Math.min(whole.steps.length, 100);
  return [bars(whole.byCollection, "nodes"),
    whole.denied.slice(0, 10).map((reason) => h("p.reason", {}, reason.message)),
    h("details", { open: whole.deletedCount < 20 }, h("summary", {}, "node by node"),
      h("ul.plain.events", {}, whole.steps.slice(0, 100).map(step)),
      rest > 0 ? h("p.soft", {}, `and ${number(rest)} more`) : null)];
}

async function planCard(plan) {
  const edges = plan.edges ? ` and ${count(plan.edges, "reference", "references")}` : "";
  const what = `It would delete ${count(plan.deletedCount, "node", "nodes")}${edges}.`;
  return h("section.card", {},
    h("div.row", {}, h("h2.grow", {}, `Plan ${plan.plan}`), approve(plan.plan, what)),
    h("p", {}, what), h("p.soft", {}, plan.file ? `change file ${plan.file}`
      : `a sweep (${plan.kinds.join(", ")})`), await steps(plan));
}

async function drawHeld() {
  const { held } = await ask("Spool");
  const plans = [...(current()?.heldPlans ?? []), ...held.filter((file) => file.plan)];
  return [h("h1", {}, "Held"),
    h("p.soft", {}, "What would delete more than the limit waits here for an approval."),
    plans.length ? await Promise.all(plans.map(planCard)) : h("section.card", {}, empty("Nothing waits."))];
}

// Check

async function drawCheck() {
  const { findings, count: total, remarks } = await ask("Check", { limit: 200 });
  const kinds = Map.groupBy(findings, (finding) => finding.kind);
  const repair = act("repair", "Repair", {
    method: "Check", parameters: { repair: true }, title: "Repair?",
    text: "Missing triggers and indexes are created. Rows stay as they are.",
    told: ({ repaired }) => `Created ${count(repaired.triggers.length, "trigger", "triggers")} and `
      + `${count(repaired.indexes.length, "index", "indexes")}.` });
  return [
    h("div.row", {}, h("h1.grow", {}, "Check"),
      kinds.has("missingIndex") || kinds.has("trigger") ? repair : null),
    h("p.soft", {}, total ? count(total, "finding", "findings") : ""),
    total ? [...kinds].map(([kind, list]) => h("section.card", {}, h("h2", {}, kind),
      h("ul.plain.events", {}, list.map((one) =>
        h("li", {}, h("span", {}, one.message,
          one.edge ? h("div.soft.small", {}, edgeLine(one.edge)) : null))))))
      : h("section.card", {}, empty("All is as the model says.")),
    remarks.map((remark) => h("p.card.small", {}, remark.message)),
  ];
}

// Spool

function rejectedRow({ file, reasons }) {
  const texts = reasons.map((reason) => h("div", {}, reason.line ? `line ${reason.line}: ` : "",
    reason.message));
  return [h("code", {}, file), texts, h("div.row.end", {},
    act(`retry-${file}`, "Retry", { method: "Retry", parameters: { file }, title: "Try it again?",
      text: file, told: () => `${file} is in the queue again.` }),
    act(`drop-${file}`, "Drop", { method: "Drop", parameters: { file }, grave: true,
      title: "Delete the file?", text: `${file} is deleted, and cannot be restored.`,
      told: () => `${file} was deleted.` }))];
}

async function drawSpool() {
  const { waiting, held, rejected } = await ask("Spool");
  const names = (list) => h("ul.plain", {}, list.map((name) => h("li", {}, h("code", {}, name))));
  return [h("h1", {}, "Spool"),
    h("section.card", {}, h("h2", {}, `Waiting: ${number(waiting.length)}`),
      names(waiting.slice(0, 100))),
    h("section.card", {}, h("h2", {}, `Held: ${number(held.length)}`),
      names(held.map((one) => one.file)),
      held.length ? h("a", { href: link("held") }, "what they would delete") : null),
    h("section.card", {}, h("h2", {}, `Rejected: ${number(rejected.length)}`),
      rejected.length ? table(["file", "why", ""], rejected.map(rejectedRow)) : null)];
}

const sumOf = (read) => state.stores.reduce((sum, store) => sum + read(store), 0);

export const views = {
  now: { title: "Now", draw: drawNow },
  sweeps: { title: "Sweeps", draw: drawSweeps },
  batches: { title: "Batches", draw: drawBatches },
  held: { title: "Held", draw: drawHeld,
    waiting: () => sumOf((store) => store.heldPlans.length + store.spool.held) },
  why: { title: "Why", draw: drawWhy },
  check: { title: "Check", draw: drawCheck },
  spool: { title: "Spool", draw: drawSpool, waiting: () => sumOf((store) => store.spool.rejected) },
};
