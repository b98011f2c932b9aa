// The frame of the page: what is known, which view is shown, questions before changes.
import { views } from "./views.js";

export const state = {
  readOnly: true, version: "", stores: [], problems: [], events: [], store: null, gone: null,
};

// Letters that would show the rest of a text as what it is not, or end its line, as on a terminal.
const misleading =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/g;
export const plain = (text) => (typeof text !== "string" ? text
  : text.replace(misleading, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`));

// Elements. A name may have classes: "p.soft.small". An attribute `on…` is a listener.
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : key === "title" ? plain(value) : value);
  }
  const shown = children.flat(9).filter((child) => child !== null && child !== undefined);
  element.append(...shown.map(plain));
  return element;
}

// Texts
const counts = new Intl.NumberFormat("en");
const stamps = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const hours = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export const number = (value) => counts.format(value ?? 0);
export const count = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;
export const moment = (ms) => (ms === null || ms === undefined ? "–" : stamps.format(ms));
export const clock = (ms) => hours.format(ms);
export const millis = (value) => (value > 0 ? `${value.toFixed(value < 10 ? 1 : 0)} ms` : "–");

// The form of a node that the command line has.
export function nodeText(node) {
  if (!node) return "?";
  if (!Array.isArray(node)) return node.root ? `${node.root}:${node.file}` : JSON.stringify(node);
  const [collection, key] = node;
  const plain = /^[\w.:@+ -]+$/;
  const isPlain = typeof key === "string" && plain.test(key) && !/^-?\d+$/.test(key);
  const isNumber = typeof key === "number" && Number.isSafeInteger(key);
  return isPlain || isNumber ? `${collection}/${key}` : JSON.stringify(node);
}

// The daemon
export class Refused extends Error {}

async function answer(response) {
  if (response.ok) return response.json();
  let text = await response.text();
  try {
    text = JSON.parse(text).error;
  } catch { /* It is a sentence. */ }
  throw new Refused(text.trim());
}

export async function ask(method, parameters = {}, store = state.store) {
  const query = encodeURIComponent(JSON.stringify({ store, ...parameters }));
  return answer(await fetch(`api/${method}?parameters=${query}`));
}

async function change(method, parameters, store) {
  const body = JSON.stringify({ store, ...parameters });
  const headers = { "Content-Type": "application/json" };
  return answer(await fetch(`api/${method}`, { method: "POST", headers, body }));
}

// Tells what happened, until it has been read.
export function tell(text, failed = false) {
  const line = h(failed ? "p.failed" : "p", {}, text);
  document.getElementById("told").append(line);
  setTimeout(() => line.remove(), failed ? 15000 : 8000);
}

function confirmed(title, text, yes) {
  const dialog = document.getElementById("ask");
  document.getElementById("ask-title").textContent = title;
  document.getElementById("ask-text").textContent = plain(text);
  document.getElementById("ask-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  document.getElementById("ask-no").focus();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

// A button that asks, does, and tells. `key` names it, so that it keeps the focus.
export function act(key, label, { title, text, yes, method, parameters, told, grave, store }) {
  if (state.readOnly) return null;
  const run = async (event) => {
    const button = event.currentTarget;
    if (!(await confirmed(title, text, yes ?? label))) return;
    button.disabled = true;
    try {
      tell(told(await change(method, parameters ?? {}, store ?? state.store)));
    } catch (error) {
      tell(error.message, true);
    }
    button.disabled = false;
    show();
  };
  const tag = grave ? "button.grave" : "button";
  return h(tag, { "data-key": key, type: "button", onclick: run }, label);
}

// Views. The address has the view and its parameters: #why?node=songs/1.
export function place() {
  const [name, query] = location.hash.slice(1).split("?");
  return { name: views[name] ? name : "now", query: new URLSearchParams(query ?? "") };
}

export const link = (name, query = {}) => {
  const text = new URLSearchParams(query).toString();
  return text ? `#${name}?${text}` : `#${name}`;
};

function drawNav(current) {
  const links = Object.entries(views).map(([name, view]) => {
    const waiting = view.waiting?.() ?? 0;
    return h("a", { href: link(name), "aria-current": name === current ? "page" : null,
      "data-key": `nav-${name}` }, view.title,
      waiting ? h("span.count", { "aria-label": `${waiting} waiting` }, number(waiting)) : null);
  });
  const nav = document.getElementById("nav");
  swap(nav, links);
  // Where it is narrow, the views are in one line that scrolls.
  const all = nav.getBoundingClientRect();
  const one = nav.querySelector("[aria-current]").getBoundingClientRect();
  if (one.right > all.right || one.left < all.left) nav.scrollLeft += one.left - all.left - 20;
}

function drawFrame() {
  document.getElementById("version").textContent = state.version;
  const connection = document.getElementById("connection");
  connection.className = state.gone ? "gone" : "";
  const text = state.gone ?? (state.readOnly ? "live, read-only" : "live");
  if (connection.textContent !== text) connection.textContent = text;
  const chooser = document.getElementById("store");
  const paths = state.stores.map((store) => store.store);
  document.getElementById("chooser").hidden = paths.length < 2;
  if ([...chooser.options].map((option) => option.value).join("\n") !== paths.join("\n")) {
    chooser.replaceChildren(...paths.map((path) => h("option", { value: path }, path)));
  }
  if (!paths.includes(state.store)) state.store = paths[0] ?? null;
  chooser.value = state.store;
}

// Replaces what an element has. What has the focus keeps it, by its key.
function swap(element, children) {
  const focused = element.contains(document.activeElement) && document.activeElement.dataset.key;
  element.replaceChildren(...children.flat(9).filter(Boolean));
  if (focused) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

const main = document.getElementById("main");
let drawing = 0;
let wantsField = false;

// Draws the current view. A view that asks the daemon first is drawn when the answer is there;
// `aria-busy` tells that it is not there yet, and `data-place` what is drawn.
export async function show() {
  const turn = ++drawing;
  const { name, query } = place();
  drawNav(name);
  drawFrame();
  if (!state.store) {
    main.removeAttribute("aria-busy");
    swap(main, [h("p.empty", {}, state.gone ?? "No store is served.")]);
    return;
  }
  const hash = location.hash;
  const head = h("h1", {}, views[name].title);
  main.setAttribute("aria-busy", "true");
  setTimeout(() => {
    const isLate = turn === drawing && main.matches("[aria-busy]") && main.dataset.place !== hash;
    if (isLate) swap(main, [head, h("p.empty", {}, "Asking the daemon …")]);
  }, 200);
  let content;
  try {
    content = await views[name].draw(query);
  } catch (error) {
    content = [head, h("p.card.reason", {}, error.message)];
  }
  // Another one began meanwhile.
  if (turn !== drawing) return;
  main.removeAttribute("aria-busy");
  const isSame = main.dataset.place === hash;
  const isTyping = main.contains(document.activeElement) && document.activeElement.matches("input");
  if (isTyping && isSame) return;
  const before = main.dataset.place;
  swap(main, content);
  main.dataset.place = hash;
  document.title = `${views[name].title} – Cascade`;
  for (const middle of main.querySelectorAll(".picture .middle")) {
    const picture = middle.closest(".picture");
    const [all, one] = [picture.getBoundingClientRect(), middle.getBoundingClientRect()];
    if (!isSame) picture.scrollLeft += one.left - all.left - (all.width - one.width) / 2;
  }
  const field = wantsField && main.querySelector("input");
  if (field) field.focus();
  else if (!isSame && before !== undefined) main.focus({ preventScroll: true });
  wantsField = false;
}

let wish;
let isEventful = false;

// Draws what has come. A view that asks the daemon asks again only after an event, and has one
// question at a time.
function showSoon(hasEvents) {
  isEventful ||= hasEvents;
  clearTimeout(wish);
  wish = setTimeout(() => {
    const { name } = place();
    const isDue = isEventful || views[name].isLive || main.dataset.place !== location.hash;
    if (isDue && main.matches("[aria-busy]")) return showSoon(false);
    isEventful = false;
    if (isDue) return show();
    drawNav(name);
    drawFrame();
  }, 60);
}

// What happens now. A page that nobody sees does not ask.
let live;
function listen() {
  live?.close();
  if (document.hidden) return;
  live = new EventSource("api/live");
  const data = (event) => JSON.parse(event.data);
  live.addEventListener("page", (event) => {
    Object.assign(state, data(event), { gone: null, events: [] });
    showSoon(true);
  });
  live.addEventListener("status", (event) => {
    const { stores, problems, version } = data(event);
    Object.assign(state, { stores, problems, version });
    showSoon(false);
  });
  live.addEventListener("events", (event) => {
    const isFirst = !state.events.length;
    const fresh = data(event).events.map((one) => ({ ...one, isNew: !isFirst }));
    state.events = state.events.map((one) => ({ ...one, isNew: false }));
    state.events = [...state.events, ...fresh].slice(-1000);
    showSoon(true);
  });
  live.addEventListener("gone", (event) => {
    state.gone = data(event).error;
    showSoon(false);
  });
  live.addEventListener("error", () => {
    state.gone ??= "no answer from cascadectl web: is it still running?";
    showSoon(false);
  });
}

document.getElementById("store").addEventListener("change", (event) => {
  state.store = event.target.value;
  show();
});
addEventListener("hashchange", show);
document.addEventListener("visibilitychange", listen);
addEventListener("keydown", (event) => {
  const isBusy = event.target.matches("input, select") || document.getElementById("ask").open;
  if (isBusy || event.ctrlKey || event.metaKey || event.altKey) return;
  const name = Object.keys(views)[Number(event.key) - 1];
  if (name) location.hash = link(name);
  if (event.key !== "/") return;
  event.preventDefault();
  const field = place().name === "why" && document.querySelector("main input");
  if (field) return field.focus();
  wantsField = true;
  location.hash = link("why");
});
// Time passes in the pictures, too.
setInterval(() => showSoon(false), 20_000);
listen();
