// How states are said. Unknown codes are shown as they are, and never as success.

const LIFECYCLES = {
  PENDING: "Waiting",
  RUNNING: "Running",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
  TIMED_OUT: "Timed out",
};

const EVENTS = {
  TASK_CREATED: "Task created",
  STEPS_ADDED: "Steps added",
  TASK_STARTED: "Task started",
  TASK_ATTEMPT_OPENED: "New attempt of the task",
  STEP_ATTEMPT_OPENED: "New attempt",
  STEP_STARTED: "Started",
  STEP_PROGRESS: "Progress",
  STEP_COMPLETED: "Completed",
  STEP_FAILED: "Failed",
  STEP_CANCELLED: "Cancelled",
  STEP_TIMED_OUT: "Timed out",
  STEP_HEALTH_CHANGED: "Health changed",
  TASK_HEALTH_CHANGED: "Health changed",
  TASK_STATUS_CHANGED: "Status changed",
  TASK_CANCEL_REQUESTED: "Cancel requested",
  TASK_COMPLETED: "Task completed",
  TASK_FAILED: "Task failed",
  TASK_CANCELLED: "Task cancelled",
  TASK_TIMED_OUT: "Task timed out",
  TASK_CORRECTED: "Corrected by an administrator",
};

const ENDS = new Set(["SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT"]);

export const ended = (view) => ENDS.has(view.lifecycleStatus);

export function lifecycle(view) {
  const word = LIFECYCLES[view.lifecycleStatus] ?? view.lifecycleStatus;
  const own = view.businessStatus !== view.lifecycleStatus ? ` · ${humane(view.businessStatus)}` : "";
  if (view.health === "STALE" && !ended(view)) return `${word}, state to be confirmed${own}`;
  return word + own + (view.health === "DEGRADED" ? ", with a warning" : "");
}

export function icon(view) {
  if (view.health === "STALE" && !ended(view)) return "i-stale";
  return view.lifecycleStatus in LIFECYCLES ? `i-${view.lifecycleStatus.toLowerCase()}` : "i-unknown";
}

export const eventName = (type) => EVENTS[type] ?? humane(type);

export function humane(code) {
  const words = String(code).replaceAll("_", " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// DOCUMENT.PARSE → Parse
export function operation(code) {
  return humane(String(code).split(".").at(-1));
}

// 6 of 14 pages · 2,912 of 5,824 bytes · 3
export function amount(progress) {
  if (!progress) return "";
  const number = (n) => Number(n).toLocaleString("en");
  const total = progress.total === null || progress.total === undefined ? "" : ` of ${number(progress.total)}`;
  const many = (progress.total ?? progress.current) !== 1;
  const unit = progress.unit ? ` ${progress.unit}${many && !progress.unit.endsWith("s") ? "s" : ""}` : "";
  return number(progress.current) + total + unit;
}

export function share(progress) {
  return progress && progress.total > 0 ? Math.min(1, progress.current / progress.total) : null;
}

// People see foreign ids as they were written: ~hh stands for a byte.
export function readable(id) {
  if (!id || !id.includes("~")) return id;
  try {
    return decodeURIComponent(id.replaceAll("%", "%25").replace(/~([0-9a-f]{2})/g, "%$1"));
  } catch {
    return id;
  }
}
