// One task: its state, its steps with their times side by side, its attempts and its timeline.

import { bar, el, hide, keyed, setBar, setShape, shape } from "./dom.js";
import { total } from "./list.js";
import { between, dayAndTime, span, still, tick, timeOfDay, write } from "./time.js";
import { amount, ended, eventName, icon, lifecycle, operation, readable, share } from "./words.js";

export class Detail {
  constructor(parent, taskId, actions) {
    this.taskId = taskId;
    this.actions = actions;
    this.build(parent);
  }

  build(parent) {
    this.shape = shape("i-unknown");
    this.title = el("bdi", "");
    this.state = el("span", "words");
    this.health = el("p", "health");
    this.bar = bar();
    this.percent = el("span", "percent");
    this.queued = timer("Queued");
    this.ran = timer("Running");
    this.whole = timer("Total");
    this.failure = failureBox();
    this.cancel = el("button", "cancel", "Cancel task");
    this.cancel.type = "button";
    this.cancel.onclick = () => this.askToCancel();
    this.cancelNote = el("p", "cancel-note");
    this.cancelNote.setAttribute("role", "status");
    this.facts = el("dl", "facts");
    this.steps = el("ol", "steps");
    this.timeline = el("ol", "timeline");
    this.older = el("p", "fine", "Earlier events are not kept any more.");
    this.older.hidden = true;
    const back = el("a", "back", shape("i-back"), "All tasks");
    back.href = "#";
    this.heading = el("h1", "", this.title);
    const meter = el("div", "meter", this.bar, this.percent);
    const times = el("div", "times", this.queued.element, this.ran.element, this.whole.element);
    parent.replaceChildren(
      back,
      el("header", "head", this.heading, el("p", "status", this.shape, this.state)),
      this.health,
      meter,
      times,
      this.failure.element,
      el("div", "act", this.cancel, this.cancelNote),
      el("section", "", el("h2", "", "Steps"), this.steps),
      el("section", "", el("h2", "", "Timeline"), this.timeline, this.older),
      el("section", "", el("h2", "", "About this task"), this.facts),
    );
    this.root = parent;
  }

  show(task, steps, earlier, events, seen) {
    this.task = task;
    this.root.dataset.state = task.lifecycleStatus;
    this.root.dataset.health = task.health;
    setShape(this.shape, icon(task));
    write(this.title, task.title || task.id);
    write(this.state, lifecycle(task));
    this.showHealth(task);
    this.showProgress(task);
    this.showTimes(task, seen);
    this.failure.show(task.failure && { ...task.failure, where: task.failure.stepId });
    this.showCancel(task);
    this.showFacts(task);
    this.showSteps(task, steps, earlier, events, seen);
    this.showTimeline(events);
  }

  showHealth(task) {
    const words = {
      STALE: "The executor has not been heard of for a while. Whether the work goes on is not known; nothing has failed.",
      DEGRADED: "A step that may fail has failed. That alone does not fail the task.",
    };
    hide(this.health, !(task.health in words));
    write(this.health, words[task.health] ?? "");
  }

  showProgress(task) {
    const progress = task.progress;
    const percent = progress?.percent ?? null;
    setBar(this.bar, percent, "Progress of the task");
    const steps = progress?.total ? `${progress.current} of ${progress.total} steps done` : "";
    const parts = [percent === null ? "" : `${percent} %`, progress?.stage ?? "", steps].filter(Boolean);
    write(this.percent, parts.join(" · "));
  }

  showTimes(task, seen) {
    const waited = Math.max(0, Date.parse(task.asOf) - Date.parse(task.createdAt));
    if (task.queueDurationMs !== null) still(this.queued.value, span(task.queueDurationMs));
    else if (ended(task)) still(this.queued.value, "–");
    else tick(this.queued.value, waited, seen);
    if (task.startedAt === null) still(this.ran.value, "–");
    else if (ended(task)) still(this.ran.value, span(task.elapsedMs));
    else tick(this.ran.value, task.elapsedMs ?? 0, seen);
    total(this.whole.value, task, seen);
  }

  showCancel(task) {
    const over = ended(task);
    const asked = task.cancelRequestedAt !== null;
    hide(this.cancel, over || asked);
    hide(this.cancelNote, over || (!asked && !this.note));
    write(this.cancelNote, asked ? `Asked to stop at ${timeOfDay(task.cancelRequestedAt)}; waiting for the work to end.` : this.note ?? "");
  }

  askToCancel() {
    if (!this.armed) {
      write(this.cancel, "Really cancel?");
      this.armed = setTimeout(() => this.disarm(), 4000);
      return;
    }
    this.disarm();
    this.actions.cancel(this.taskId);
  }

  disarm() {
    clearTimeout(this.armed);
    this.armed = 0;
    write(this.cancel, "Cancel task");
  }

  said(note) {
    this.note = note;
    if (this.task) this.showCancel(this.task);
  }

  showFacts(task) {
    const facts = [
      ["Type", task.taskType],
      ["Product", task.product],
      ["Project", readable(task.projectId)],
      ["Owner", readable(task.ownerId)],
      ["Result", task.resultRef && (task.resultRef.title ?? task.resultRef.id)],
      ["Attempt", task.attempt],
      ["Created", dayAndTime(task.createdAt)],
      ["Version", task.version],
      ["Id", task.id],
    ].filter(([, value]) => value !== null && value !== undefined && value !== "");
    keyed(this.facts, facts, ([name]) => name, makeFact, (row, [, value]) => write(row.value, String(value)));
  }

  showSteps(task, steps, earlier, events, seen) {
    const opened = openings(task, events);
    const scale = scaleOf(task);
    const context = { opened, scale, seen, earlier };
    keyed(this.steps, steps, (step) => step.id, makeStep, (row, step) => showStep(row, step, context));
  }

  showTimeline(events) {
    const newest = events.slice(-300).reverse();
    keyed(this.timeline, newest, (event) => event.taskVersion, makeEvent, () => {});
  }
}

// Steps

function makeStep() {
  const row = {
    shape: shape("i-unknown"),
    name: el("span", "name"),
    code: el("code", "code"),
    producer: el("span", "producer"),
    attempt: el("span", "attempt"),
    state: el("span", "words"),
    bar: bar(),
    amount: el("span", "amount"),
    message: el("p", "message"),
    error: failureBox(),
    queued: timer("Queued"),
    ran: timer("This attempt"),
    lane: el("span", "lane", el("span", "wait"), el("span", "run")),
    earlier: el("ol", "earlier"),
  };
  row.lane.setAttribute("aria-hidden", "true");
  row.summary = el("summary", "");
  row.more = el("details", "attempts", row.summary, row.earlier);
  const who = el("span", "who", row.code, row.producer);
  row.element = el(
    "li",
    "step",
    row.shape,
    el("div", "what", row.name, row.attempt, who),
    row.state,
    el("div", "step-times", row.queued.element, row.ran.element),
    el("div", "how", row.bar, row.amount),
    row.lane,
    row.message,
    row.error.element,
    row.more,
  );
  return row;
}

function showStep(row, step, { opened, scale, seen, earlier }) {
  row.element.dataset.state = step.lifecycleStatus;
  row.element.dataset.health = step.health;
  setShape(row.shape, icon(step));
  write(row.name, operation(step.operationCode));
  write(row.code, `${step.id} · ${step.operationCode}`);
  write(row.producer, step.producerId);
  hide(row.attempt, step.attempt === 1);
  write(row.attempt, `attempt ${step.attempt}`);
  write(row.state, lifecycle(step) + (step.stage && !ended(step) ? `: ${step.stage}` : ""));
  // Where work is under way, or stopped short; what succeeded is whole, and needs no bar to say so.
  const done = step.lifecycleStatus === "PENDING" || step.lifecycleStatus === "SUCCEEDED" ? null : share(step.progress);
  setBar(row.bar, done === null ? null : 100 * done, `Progress of ${step.id}`);
  write(row.amount, amount(step.progress));
  hide(row.message, !step.message);
  write(row.message, step.message ?? "");
  row.error.show(step.error && { ...step.error, where: null });
  const since = opened.get(`${step.id}/${step.attempt}`) ?? null;
  stepTimes(row, step, since, seen);
  lane(row.lane, step, since, scale);
  const before = earlier.filter((old) => old.id === step.id && old.attempt < step.attempt);
  hide(row.more, before.length === 0);
  write(row.summary, before.length === 1 ? "1 earlier attempt" : `${before.length} earlier attempts`);
  keyed(row.earlier, before, (old) => old.attempt, makeAttempt, showAttempt);
}

function stepTimes(row, step, since, seen) {
  const waited = between(since, step.startedAt);
  if (waited !== null) still(row.queued.value, span(waited));
  else if (step.startedAt === null && since && !ended(step)) {
    tick(row.queued.value, Math.max(0, Date.parse(step.asOf) - Date.parse(since)), seen);
  } else still(row.queued.value, "–");
  if (ended(step)) {
    const guess = step.durationSource === "WALL_CLOCK_ESTIMATE" ? "≈ " : "";
    still(row.ran.value, guess + span(step.durationMs ?? step.elapsedMs));
  } else if (step.startedAt === null) still(row.ran.value, "–");
  else tick(row.ran.value, step.elapsedMs ?? 0, seen);
}

function makeAttempt() {
  const row = { shape: shape("i-unknown"), words: el("span", "") };
  row.element = el("li", "", row.shape, row.words);
  return row;
}

function showAttempt(row, step) {
  row.element.dataset.state = step.lifecycleStatus;
  setShape(row.shape, icon(step));
  const given = ended(step) ? lifecycle(step) : `${lifecycle(step)} when it was given up`;
  const at = amount(step.progress);
  const parts = [`Attempt ${step.attempt}: ${given}`, step.error?.code, at, span(step.durationMs ?? step.elapsedMs)];
  write(row.words, parts.filter((part) => part && part !== "–").join(" · "));
}

// The waterfall: when a step waited and ran, on the scale of the whole task so far.

function scaleOf(task) {
  const from = Date.parse(task.createdAt);
  const to = Date.parse(task.finishedAt ?? task.asOf);
  return { from, length: Math.max(1, to - from) };
}

function lane(element, step, since, scale) {
  const [wait, run] = element.children;
  const opened = since ? Date.parse(since) : null;
  const started = step.startedAt ? Date.parse(step.startedAt) : null;
  const over = step.finishedAt ?? (started === null ? step.asOf : step.asOf);
  const finished = Date.parse(over);
  place(wait, opened, started ?? (ended(step) ? finished : null) ?? finished, scale);
  place(run, started, finished, scale);
}

function place(element, from, to, scale) {
  hide(element, from === null);
  if (from === null) return;
  const left = Math.min(1, Math.max(0, (from - scale.from) / scale.length));
  const right = Math.min(1, Math.max(left, (to - scale.from) / scale.length));
  element.style.setProperty("--left", `${100 * left}%`);
  element.style.setProperty("--width", `${100 * (right - left)}%`);
}

// When each attempt was opened: with the task, unless the timeline says otherwise.
function openings(task, events) {
  const opened = new Map();
  for (const event of events) {
    if (event.eventType === "STEP_ATTEMPT_OPENED") opened.set(`${event.stepId}/${event.stepAttempt}`, event.committedAt);
  }
  return { get: (key) => opened.get(key) ?? (key.endsWith("/1") ? task.createdAt : undefined) };
}

// Small parts

function timer(label) {
  const value = el("span", "value", "–");
  return { value, element: el("span", "time", el("span", "label", label), value) };
}

function failureBox() {
  const code = el("code", "");
  const words = el("span", "");
  const fine = el("span", "fine");
  const element = el("div", "failure", shape("i-failed"), el("p", "", code, " ", words, " ", fine));
  element.hidden = true;
  return {
    element,
    show(error) {
      hide(element, !error);
      if (!error) return;
      write(code, error.code);
      write(words, error.userMessage ?? "");
      const parts = [error.category, error.retryable === true ? "may be retried" : "", error.where && `in ${error.where}`];
      write(fine, parts.filter(Boolean).join(" · "));
    },
  };
}

function makeFact([name]) {
  const value = el("bdi", "");
  return { value, element: el("div", "", el("dt", "", name), el("dd", "", value)) };
}

function makeEvent(event) {
  const what = [event.stepId, event.stepAttempt > 1 ? `attempt ${event.stepAttempt}` : "", told(event)];
  const time = el("time", "", timeOfDay(event.committedAt));
  time.dateTime = event.committedAt;
  time.title = event.committedAt;
  const state = event.stepId ? event.stepLifecycleStatus : event.lifecycleStatus;
  const mark = shape(icon({ lifecycleStatus: state, health: "HEALTHY" }));
  const marks = [event.gap ? "gap before" : "", event.derived ? "derived" : ""].filter(Boolean).join(", ");
  const words = el("span", "event-words", el("strong", "", eventName(event.eventType)), " ", el("bdi", "", what.filter(Boolean).join(" · ")));
  const fine = el("span", "fine", [event.producerId, marks].filter(Boolean).join(" · "));
  const element = el("li", "", time, el("span", "number", event.taskVersion), mark, words, fine);
  element.dataset.state = state;
  return { element };
}

function told(event) {
  if (event.error) return event.error.code;
  const progress = amount(event.progress);
  const parts = [event.stage, progress, event.message, event.durationMs === null ? "" : span(event.durationMs)];
  return parts.filter(Boolean).join(" · ");
}
