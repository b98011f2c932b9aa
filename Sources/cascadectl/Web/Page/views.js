// The views, but for the pictures of a node.
import { act, ask, clock, count, h, link, millis, moment, nodeText, number, state } from "./app.js";
import { drawWhy } from "./explain.js";
import { minuteChart } from "./picture.js";

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

// What is more than its age allows, and how late the first of it is.
function overdue({ expired }) {
  if (!expired?.waiting) return null;
  return h("p.soft", {}, `${count(expired.waiting, "row is", "rows are")} overdue, the first for `
    + `${number(Math.floor((expired.oldest ?? 0) / 3600))} hours.`);
}

// To what waits for an approval, in the store that is chosen by it.
const heldLink = (store) => (store.heldPlans?.length
  ? [" ", h("a", { href: link("held"), onclick: () => { state.store = store.store; },
    "data-key": `held-${store.store}` }, "Look at it.")] : null);

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
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  return h("section.card", {}, h("div.row", {}, h("h2.path.grow", {},
    h("span.folder", {}, folder), name.slice(folder.length)), pill(store.state)),
    store.reason ? h("p.reason", {}, store.reason, heldLink(store)) : null, progress(store),
    overdue(store),
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

const isDeletion = (event) => ["swept", "deleted"].includes(event.kind) && event.deletedCount > 0;

// What the events say of the last hour: a bar for each minute.
function lastHour() {
  const minutes = 60;
  const bars = Array(minutes).fill(0);
  for (const event of state.events.filter(isDeletion)) {
    const ago = Math.max(0, Math.floor((Date.now() - event.at) / 60_000));
    if (ago < minutes) bars[minutes - 1 - ago] += event.deletedCount;
  }
  const sum = bars.reduce((all, one) => all + one, 0);
  return h("section.card", {}, h("div.row", {}, h("h2.grow", {}, "Deleted in the last hour"),
    h("strong", {}, count(sum, "node", "nodes"))), minuteChart(bars));
}

const drawNow = () => [
  h("h1", {}, "Now"), state.problems.map((text) => h("p.reason", {}, text)),
  state.stores.map(storeCard), lastHour(),
  h("section.card", {}, h("h2", {}, "Events"), eventList(state.events.slice(-60))),
];

// Sweeps

function lastRun(last) {
  return last ? [`${last.outcome} (${last.why})`, h("div.soft.small", {}, moment(last.at))] : "–";
}

const sums = (title, values) =>
  Object.keys(values ?? {}).length ? [h("h3", {}, title), bars(values, "nodes")] : null;

// Of the events that the daemon still has, the newest first.
function recentSweeps(store) {
  const events = state.events.filter((one) => one.kind === "swept" && one.store === store.store);
  const longest = Math.max(1, ...events.map((one) => one.lockMaxMs ?? 0));
  return [...events].reverse().slice(0, 20).map((one) => [
    [one.sweep ? `sweep ${one.sweep}` : "earlier", h("div.soft.small", {}, moment(one.at))],
    number(one.deletedCount),
    one.lockMaxMs === undefined ? "–" : h("div.bars", {}, h("meter", { max: longest,
      value: one.lockMaxMs, "aria-label": `${one.lockMaxMs} ms` }), millis(one.lockMaxMs)),
    one.batch ? h("a", { href: link("batches") }, `batch ${one.batch}`) : "–"]);
}

function lastSweep(sweep) {
  if (!sweep) return empty("No sweep has done anything since the daemon began.");
  return [
    h("div.row", {}, h("h2.grow", {}, `Sweep ${sweep.sweep}`), pill(sweep.outcome)),
    h("p.soft", {}, (sweep.kinds ?? []).join(", ")),
    figures([[sweep.outcome === "held" ? "would delete" : "deleted", number(sweep.deletedCount)], ["batch", sweep.batch ?? "–"],
      ["references removed", number(sweep.edgesRemoved)], ["lock p50", millis(sweep.lockMs?.p50)],
      ["p99", millis(sweep.lockMs?.p99)], ["max", millis(sweep.lockMs?.max)]]),
    sums("By collection", sweep.byCollection), sums("By rule", sweep.byRule),
    (sweep.blocked ?? []).slice(0, 20).map((reason) => h("p.reason", {}, reason.message)),
  ];
}

function drawSweeps() {
  const store = current();
  const rows = (store?.schedules ?? []).map((one) => [one.kind, h("code", {}, one.schedule),
    one.next ? moment(one.next) : (one.nextWhy ?? "–"), lastRun(one.last)]);
  const recent = store ? recentSweeps(store) : [];
  return [h("h1", {}, "Sweeps"), h("section.card", {}, lastSweep(store?.lastSweep)),
    recent.length ? h("section.card", {}, h("h2", {}, "Recent sweeps"),
      table(["sweep", "deleted", "longest hold of the lock", "undo"], recent)) : null,
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

const causes = {
  sweep: (batch) => ["an application's change", batch.id],
  job: (batch) => ["a deletion that was asked for", `${batch.id} by ${batch.author}`],
  expired: (batch) => ["the age of rows", batch.id],
  file: (batch) => [`change file ${batch.id}`, batch.author ?? ""],
};

function causeCell(batch) {
  const [what, detail] = (causes[batch.cause] ?? causes.file)(batch);
  return [what, h("div.soft.small", {}, detail)];
}

async function drawBatches() {
  const { batches } = await ask("Batches", { newest: true, limit: 100 });
  const rows = batches.map((batch) => [
    [h("strong", {}, number(batch.batch)), h("div.soft.small", {}, moment(batch.at))],
    causeCell(batch),
    [count(batch.deletedCount, "node", "nodes"), h("div.soft.small", {},
      Object.entries(batch.byCollection).map(([n, v]) => `${number(v)} of ${n}`).join(", "))],
    undoCell(batch)]);
  return [h("h1", {}, "Batches"), h("p.lead", {}, "What was deleted together, the newest first."),
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

const reject = (plan, what) => act(`reject-${plan}`, "Reject", {
  method: "Reject", parameters: { plan }, title: `Reject plan ${plan}?`,
  text: `${what}\nIt stays, and what refers to it is left as it is. What was deleted comes back where it was `
    + "kept.",
  told: (answer) => `Rejected: ${count(answer.restored, "row is", "rows are")} back, `
    + `${count(answer.givenUp, "node or reference is", "nodes and references are")} given up.` });

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
    h("div.row", {}, h("h2.grow", {}, `Plan ${plan.plan}`), reject(plan.plan, what),
      approve(plan.plan, what)),
    h("p", {}, what), h("p.soft", {}, plan.file ? `change file ${plan.file}`
      : plan.kinds.length ? `a sweep (${plan.kinds.join(", ")})` : `job ${plan.job}`), await steps(plan));
}

async function drawHeld() {
  const { held } = await ask("Spool");
  const plans = [...(current()?.heldPlans ?? []), ...held.filter((file) => file.plan)];
  return [h("h1", {}, "Held"),
    h("p.lead", {}, "What would delete more than the limit waits here for an approval."),
    plans.length ? await Promise.all(plans.map(planCard)) : h("section.card", {}, empty("Nothing waits."))];
}

// Jobs

const cancel = (job) => act(`cancel-${job}`, "Cancel", {
  method: "Cancel", parameters: { job }, title: `Cancel job ${job}?`,
  text: "What it has deleted so far is its batch, and can be undone.",
  told: ({ job: ended }) => `Job ${ended.job} is ${ended.state}.` });

function subjectOf({ subject }) {
  if (subject.nodes) return subject.nodes.map((node) => [nodeLink(node), " "]);
  if (subject.softDelete) return "what follows from marks";
  return subject.expires ? `the age of ${subject.collection}`
    : `${subject.collection} where ${subject.where}`;
}

const jobRow = (job) => [
  [h("strong", {}, number(job.job)), h("div.soft.small", {}, moment(job.at))],
  [subjectOf(job), h("div.soft.small", {}, job.author)],
  [`${job.state}: ${number(job.deletedCount)}${job.of ? ` of ${number(job.of)}` : ""}`,
    job.state === "running" && job.of
      ? h("progress", { max: job.of, value: job.deletedCount }) : null,
    job.blocked.slice(0, 5).map((reason) => h("p.reason", {}, reason.message))],
  ["running", "held"].includes(job.state) && !state.readOnly ? cancel(job.job) : ""];

const protectionRow = ({ node, reason, by, since, until }) => [
  nodeLink(node), reason, [by, h("div.soft.small", {}, moment(since))],
  until ? moment(until) : "until it is ended"];

async function drawJobs() {
  const [{ jobs }, { protections }] = await Promise.all([ask("Jobs"), ask("Protections")]);
  return [h("h1", {}, "Jobs"),
    h("p.lead", {}, "Deletions that began here, the newest first, and what nothing may delete."),
    h("section.card", {}, jobs.length
      ? table(["job", "what", "state", ""], [...jobs].reverse().map(jobRow)) : empty("There was none.")),
    h("section.card", {}, h("h2", {}, "Protected"), protections.length
      ? table(["node", "why", "by", "until"], protections.map(protectionRow))
      : empty("Nothing is protected."))];
}

// Check

const titles = {
  dangling: "References to nothing", foreignKey: "Foreign keys that rows violate",
  missingMandatory: "Missing references", tooFew: "Too few references",
  tooMany: "Too many references", notUnique: "References that are not unique",
  denied: "Denials", missingIndex: "Missing indexes", trigger: "Triggers",
  binding: "What the tables do not have", hiddenKey: "Keys by which REPLACE displaces rows",
  replaceIgnored: "REPLACE is not seen", missingKey: "Missing keys",
  affinity: "Types that differ", cannotDelete: "Rows that cannot be deleted",
  cannotUndo: "Rows that could not come back", undoneWithout: "Rows that come back without triggers",
  fileRoot: "Directories", fileWithoutEdge: "Files that nothing refers to",
  edgeWithoutFile: "References to missing files",
};

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
    total ? h("p.lead", {}, count(total, "finding", "findings")) : null,
    total ? [...kinds].map(([kind, list]) => h("section.card", {},
      h("div.row", {}, h("h2.grow", {}, titles[kind] ?? kind), h("span.soft.small", {}, kind)),
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
  const { waiting, held, rejected, stuck } = await ask("Spool");
  const names = (list) => h("ul.plain", {}, list.map((name) => h("li", {}, h("code", {}, name))));
  const part = (title, list, ...content) =>
    (list.length ? h("section.card", {}, h("h2", {}, title), content) : null);
  return [h("h1", {}, "Spool"),
    h("section.card", {}, figures([["waiting", number(waiting.length)],
      ["held", number(held.length)], ["rejected", number(rejected.length)],
      ["stuck", number(stuck.length)]])),
    part("Waiting", waiting, names(waiting.slice(0, 100))),
    part("Held", held, names(held.map((one) => one.file)),
      h("p", {}, h("a", { href: link("held") }, "what they would delete"))),
    part("Rejected", rejected, table(["file", "why", ""], rejected.map(rejectedRow))),
    part("Stuck", stuck, table(["file", "why", ""], stuck.map(rejectedRow)))];
}

const sumOf = (read) => state.stores.reduce((sum, store) => sum + read(store), 0);

export const views = {
  now: { title: "Now", draw: drawNow, isLive: true },
  sweeps: { title: "Sweeps", draw: drawSweeps, isLive: true },
  batches: { title: "Batches", draw: drawBatches },
  held: { title: "Held", draw: drawHeld,
    waiting: () => sumOf((store) => store.heldPlans.length + store.spool.held) },
  jobs: { title: "Jobs", draw: drawJobs,
    waiting: () => sumOf((store) => store.jobs.filter((job) => job.state === "running").length) },
  why: { title: "Why", draw: drawWhy },
  check: { title: "Check", draw: drawCheck },
  spool: { title: "Spool", draw: drawSpool,
    waiting: () => sumOf((store) => store.spool.rejected + store.spool.stuck) },
};
