// The page: who is signed in, one stream for the list, one for the task that is looked at. A view, never the authority.

import { Detail } from "./detail.js";
import { hide } from "./dom.js";
import { showList } from "./list.js";
import { Notices } from "./notices.js";
import { Store, position } from "./store.js";
import { Stream } from "./stream.js";
import { timeOfDay, write } from "./time.js";
import { ended } from "./words.js";

const $ = (id) => document.getElementById(id);
const PAGE = 100;
const STALE = 30_000;

const store = new Store();
const seen = new WeakMap(); // when a view arrived, on our monotonic clock
let selected = null;
let list = null;
let older = null;
let filter = "";
let lastSign = performance.now();
let lastSignAt = null;

// Requests

class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.code || `HTTP ${status}`);
    this.status = status;
    this.code = problem.code ?? "";
  }
}

async function call(path, options = {}) {
  const reply = await fetch(path, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(10_000), ...options });
  if (reply.status === 204) return null;
  const body = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Refused(reply.status, body);
  return body;
}

function post(path, body, headers = {}) {
  return call(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
}

const notices = new Notices({ call, post, toast: $("toast"), unread: $("unread"), mark: $("mark-read") });

// Signing in

async function begin() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code !== null) {
    // The code leaves the address before anything else: it must not be bookmarked, shared or sent along.
    history.replaceState(null, "", location.pathname);
    try {
      enter(await post("/api/session", { code }));
    } catch (error) {
      await known(error);
    }
    return;
  }
  await known(null);
}

async function known(failed) {
  try {
    const session = await call("/api/session");
    enter(session);
    if (failed instanceof Refused) tell("That link was used already or is too old. You are still signed in from before.");
  } catch (error) {
    if (error instanceof Refused && error.status < 500) signedOut(failed instanceof Refused);
    else {
      connection("RECONNECTING", "the service does not answer");
      setTimeout(() => known(failed), 2000 + 2000 * Math.random());
    }
  }
}

function enter(session) {
  hide($("signed-out"), true);
  hide($("board"), false);
  hide($("who"), false);
  const projects = session.projectIds.length ? ` · ${session.projectIds.join(", ")}` : "";
  write($("who-name"), `${session.userId} at ${session.tenantId}${projects}`);
  notices.count();
  list ??= new Stream("/api/stream", { message: heard, state: connection, check });
  route();
}

function signedOut(byUsedLink) {
  list?.close();
  selected?.stream.close();
  list = selected = null;
  notices.clear();
  hide($("board"), true);
  hide($("who"), true);
  hide($("banner"), true);
  hide($("signed-out"), false);
  connection("SIGNED_OUT", "signed out");
  const why = byUsedLink
    ? "That link was used already, or is more than ten minutes old. A link works once."
    : "This page shows the tasks of one person, so it has to know who you are.";
  write($("signed-out-why"), why);
  document.title = "Milepost";
}

$("sign-out").onclick = async () => {
  await call("/api/session", { method: "DELETE" }).catch(() => {});
  signedOut(false);
};

// The connection, told as it is

const WORDS = { CONNECTING: "Connecting", LIVE: "Live", RECONNECTING: "Reconnecting", OFFLINE: "Offline", SIGNED_OUT: "Signed out" };

function connection(state, reason) {
  let shown = state;
  if (state === "RECONNECTING" && (!navigator.onLine || performance.now() - lastSign > STALE)) shown = "OFFLINE";
  const since = lastSignAt === null ? "" : `, as of ${timeOfDay(lastSignAt)}`;
  $("connection").dataset.state = shown;
  const late = shown === "RECONNECTING" || shown === "OFFLINE";
  write($("connection-text"), WORDS[shown] + (late ? since : ""));
  $("connection").title = late ? `${reason ?? ""}. What you see may be older than it looks.` : reason ?? "";
}

function alive() {
  lastSign = performance.now();
  lastSignAt = new Date().toISOString();
}

// A question and an answer, where a stream alone cannot tell whether it is still one. Also finds what a stream lost.
async function check() {
  try {
    if (store.cursor === null) await call("/api/session");
    else changed(await call(`/api/tasks?limit=${PAGE}&changedAfter=${encodeURIComponent(store.cursor)}`));
    alive();
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 410) return true; // the stream will say `reset`
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) signedOut(false);
    return error instanceof Refused && error.status < 500;
  }
}

function changed(answer) {
  if (answer.epoch !== store.epoch) return;
  for (const task of answer.items) take(task, store.cursor);
  for (const id of answer.removed) if (store.tasks.has(id)) store.drop(id);
  draw();
}

// The list

let owed = null;
let waiting = [];

async function heard(kind, message, id) {
  alive();
  if (kind === "hello") {
    if (!message.resumed || message.epoch !== store.epoch) await snapshot();
    else connection("LIVE");
    if (list) list.cursor = message.cursor;
    return;
  }
  if (kind === "reset") {
    if (message.epoch !== store.epoch || position(store.cursor) < position(message.cursor)) await snapshot();
    if (list) list.cursor = message.cursor;
    return;
  }
  notices.heard(kind, message);
  if (kind === "notice.read" || kind.startsWith("broadcast.")) {
    if (id && !owed && !store.foreign(message)) moved(id);
    return;
  }
  if (owed) waiting.push([kind, message, id]);
  else apply(kind, message, id);
}

function apply(kind, message, id) {
  if (kind.startsWith("access.") || store.foreign(message)) return void snapshot();
  if (kind === "task.summary" && !store.late(message)) take(message.task, id);
  if (kind === "task.removed" && store.removed(message.taskId, message.version) && selected?.id === message.taskId) gone();
  if (id) moved(id);
  connection("LIVE");
  draw();
}

function take(task, cursor) {
  seen.set(task, performance.now());
  return store.summary(task, cursor);
}

function moved(cursor) {
  store.cursor = cursor;
  if (list) list.cursor = cursor;
}

// Subscribed first; what comes in the meantime waits and is merged by version afterwards.
function snapshot() {
  owed ??= load().finally(() => {
    owed = null;
    const held = waiting;
    waiting = [];
    for (const [kind, message, id] of held) apply(kind, message, id);
  });
  return owed;
}

async function load() {
  try {
    const page = await call(`/api/tasks?limit=${PAGE}`);
    const known = store.epoch !== null;
    if (store.enter(page.epoch) && known && selected !== null) {
      Object.assign(selected, { task: null, steps: [], earlier: [], events: [] });
      loadDetail(selected);
    }
    const now = performance.now();
    for (const task of page.items) seen.set(task, now);
    store.list(page.items, page.streamCursor, page.nextCursor === null);
    moved(page.streamCursor);
    older = page.nextCursor;
    alive();
    connection("LIVE");
    draw();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) signedOut(false);
    else list?.failed("the list could not be read");
  }
}

$("more").onclick = async () => {
  try {
    const page = await call(`/api/tasks?limit=${PAGE}&cursor=${encodeURIComponent(older)}`);
    if (page.epoch === store.epoch) for (const task of page.items) take(task, page.streamCursor);
    older = page.nextCursor;
    draw();
  } catch (error) {
    tell(`Older tasks could not be read: ${error.message}.`);
  }
};

// One task

function route() {
  const id = new URLSearchParams(location.hash.slice(1)).get("task");
  if (id === (selected?.id ?? null)) return;
  selected?.stream.close();
  selected = null;
  hide($("banner"), true);
  if (id === null || !/^[A-Za-z0-9._~-]{1,128}$/.test(id)) {
    $("detail").replaceChildren();
    document.body.classList.remove("looking");
    return draw();
  }
  document.body.classList.add("looking");
  selected = { id, task: null, steps: [], earlier: [], events: [], at: 0, view: null, stream: null };
  selected.view = new Detail($("detail"), id, { cancel });
  const mine = selected;
  selected.stream = new Stream(`/api/tasks/${encodeURIComponent(id)}/stream`, {
    message: (kind, message, at) => mine === selected && detailHeard(mine, kind, message, at),
    state: () => {},
    check: () => list !== null && lookable(mine),
  });
  draw();
  loadDetail(mine);
  $("detail").focus({ preventScroll: true });
  $("detail").scrollTop = 0;
}

async function lookable(one) {
  try {
    await loadDetail(one, true);
    return true;
  } catch {
    return false;
  }
}

function detailHeard(one, kind, message, at) {
  alive();
  if (kind === "hello" || kind === "reset") {
    one.stream.cursor = message.cursor;
    if (kind === "reset" || !message.resumed) loadDetail(one);
    return;
  }
  if (at) one.stream.cursor = at;
  if (store.foreign(message) || message.refetch) return void loadDetail(one);
  if (kind === "task.removed") return void (store.removed(message.taskId, message.version) && gone());
  if (kind !== "task.detail" || !store.detail(message.task)) return;
  // An earlier attempt's last state is only in the snapshot.
  const reopened = message.steps.some((step) => one.steps.some((old) => old.id === step.id && old.attempt < step.attempt));
  looked(one, message.task, message.steps, one.earlier);
  if (reopened) loadDetail(one);
  loadEvents(one);
}

async function loadDetail(one, strict = false) {
  try {
    const found = await call(`/api/tasks/${encodeURIComponent(one.id)}?attempts=all`);
    if (one !== selected) return;
    if (store.epoch !== null && found.epoch !== store.epoch) return void snapshot();
    const newest = new Map();
    for (const step of found.steps) if ((newest.get(step.id)?.attempt ?? 0) < step.attempt) newest.set(step.id, step);
    const earlier = found.steps.filter((step) => newest.get(step.id) !== step).sort((a, b) => b.attempt - a.attempt);
    const news = store.detail(found.task) || one.task === null;
    if (news) looked(one, found.task, [...newest.values()], earlier);
    else if (BigInt(found.task.version) >= BigInt(one.task.version)) looked(one, one.task, one.steps, earlier);
    await loadEvents(one);
  } catch (error) {
    if (one !== selected) return;
    if (error instanceof Refused && (error.status === 404 || error.status === 410)) gone();
    else if (strict) throw error;
  }
}

function looked(one, task, steps, earlier) {
  Object.assign(one, { task, steps, earlier, at: performance.now() });
  draw();
}

// The events API fills what version jumps left out.
async function loadEvents(one) {
  if (one.loading) return void (one.again = true);
  one.loading = true;
  try {
    do {
      one.again = false;
      const after = one.events.at(-1)?.taskVersion ?? "0";
      const page = await call(`/api/tasks/${encodeURIComponent(one.id)}/events?limit=200&afterTaskVersion=${after}`);
      one.events.push(...page.items);
      if (page.nextAfterTaskVersion !== null && page.items.length > 0) one.again = true;
    } while (one.again && one === selected);
  } catch {
    // The timeline is a comfort: the state does not depend on it, and the next change asks again.
  } finally {
    one.loading = false;
    if (one === selected) draw();
  }
}

function gone() {
  location.hash = "";
  tell("That task is not there any more, or is not yours to see.");
}

async function cancel(id) {
  const one = selected;
  one.view.said("Asking …");
  const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const answer = await post(`/api/tasks/${encodeURIComponent(id)}:requestCancel`, {}, { "idempotency-key": key });
    one.view.said(answer.accepted ? "" : "It had ended already.");
  } catch (error) {
    one.view.said(`It could not be asked: ${error.message}`);
  }
}

// Drawing, at most once a frame

let drawing = 0;

function draw() {
  drawing ||= document.hidden ? setTimeout(paint, 200) : requestAnimationFrame(paint);
}

function paint() {
  drawing = 0;
  const tasks = store.sorted();
  const shown = filter === "" ? tasks : tasks.filter(matches);
  showList($("list"), shown, selected?.id, seen);
  write($("counts"), counted(tasks));
  hide($("more"), older === null || filter !== "");
  hide($("empty"), shown.length > 0 || store.epoch === null);
  write($("empty"), tasks.length === 0 ? "No tasks yet. They appear here the moment one is created for you." : "No task matches.");
  const detail = selected?.task ?? null;
  hide($("detail"), selected === null);
  hide($("choose"), selected !== null);
  if (detail !== null) selected.view.show(detail, selected.steps, selected.earlier, selected.events, selected.at);
  document.title = detail === null ? "Milepost" : `${detail.title || detail.id} – Milepost`;
}

function matches(task) {
  return [task.title, task.id, task.projectId ?? ""].some((text) => text.toLowerCase().includes(filter));
}

function counted(tasks) {
  const running = tasks.filter((task) => !ended(task)).length;
  const failed = tasks.filter((task) => task.lifecycleStatus === "FAILED").length;
  return [`${tasks.length}${older === null ? "" : "+"} tasks`, `${running} unfinished`, `${failed} failed`].join(" · ");
}

function tell(text) {
  write($("banner"), text);
  hide($("banner"), false);
  setTimeout(() => hide($("banner"), true), 8000);
}

// What wakes us

addEventListener("hashchange", () => (location.hash.includes("code=") ? begin() : list !== null && route()));
addEventListener("online", () => [list, selected?.stream].forEach((stream) => stream?.nudge()));
addEventListener("offline", () => connection("RECONNECTING", "the network is away"));
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && performance.now() - lastSign > 5000) [list, selected?.stream].forEach((stream) => stream?.nudge());
  if (!document.hidden) draw();
});
$("filter").addEventListener("input", (event) => {
  filter = event.target.value.trim().toLowerCase();
  draw();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    $("filter").focus();
  } else if (event.key === "Escape") {
    if (typing) event.target.blur();
    else if (selected) location.hash = "";
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.matches?.(".row, #filter")) {
    event.preventDefault();
    const rows = [...document.querySelectorAll(".row")];
    const at = rows.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1);
    rows[Math.max(0, Math.min(rows.length - 1, at))]?.focus();
  }
});
setInterval(() => $("connection").dataset.state === "RECONNECTING" && connection("RECONNECTING", ""), 1000);

begin();
