// What this page knows, merged by version. Everything that arrives is a complete state with a version, so late, doubled
// and reordered messages are harmless. List and detail are different projections and have gates of their own.

export class Store {
  constructor() {
    this.epoch = null;
    this.cursor = null;
    this.listed = -1n;
    this.tasks = new Map();
    this.positions = new Map();
    this.summaryGates = new Map();
    this.detailGates = new Map();
    this.tombstones = new Map();
  }

  // Another epoch of the database: versions of the old one mean nothing any more. What is shown stays until the
  // snapshot of the new one replaces it.
  enter(epoch) {
    if (this.epoch === epoch) return false;
    this.epoch = epoch;
    this.cursor = null;
    this.listed = -1n;
    this.summaryGates.clear();
    this.detailGates.clear();
    this.tombstones.clear();
    return true;
  }

  foreign(message) {
    return message.epoch !== this.epoch;
  }

  summary(task, cursor) {
    if (!this.passes(this.summaryGates, task.id, task.version)) return false;
    this.tasks.set(task.id, task);
    this.positions.set(task.id, position(cursor));
    return true;
  }

  detail(task) {
    return this.passes(this.detailGates, task.id, task.version);
  }

  removed(id, version) {
    const told = BigInt(version);
    const known = [this.summaryGates.get(id) ?? 0n, this.detailGates.get(id) ?? 0n];
    if (told <= known[0] || told <= known[1]) return false;
    this.tombstones.set(id, told);
    this.drop(id);
    return true;
  }

  drop(id) {
    this.tasks.delete(id);
    this.positions.delete(id);
    this.summaryGates.delete(id);
    this.detailGates.delete(id);
  }

  // A message the list was read after, of a task it does not hold: the task is gone, and must not come back as a ghost.
  late(message) {
    return BigInt(message.position) <= this.listed && !this.tasks.has(message.taskId);
  }

  // The newest part of the list, as it was at `cursor`. What it should hold and does not is gone, unless a later
  // message told of it; `complete` says that nothing is older than its last item.
  list(items, cursor, complete) {
    const listed = new Set(items.map((task) => task.id));
    const last = complete ? null : items.at(-1);
    for (const [id, task] of this.tasks) {
      const reached = last === null || (last !== undefined && newestFirst(task, last) <= 0);
      const later = this.summaryGates.has(id) && (this.positions.get(id) ?? -1n) > position(cursor);
      if (!listed.has(id) && reached && !later) this.drop(id);
    }
    for (const task of items) this.summary(task, cursor);
    if (position(cursor) > this.listed) this.listed = position(cursor);
  }

  sorted() {
    return [...this.tasks.values()].sort(newestFirst);
  }

  passes(gates, id, version) {
    const told = BigInt(version);
    const buried = this.tombstones.get(id);
    if (buried !== undefined) {
      if (told <= buried) return false;
      this.tombstones.delete(id);
    }
    if (told <= (gates.get(id) ?? 0n)) return false;
    gates.set(id, told);
    return true;
  }
}

export function newestFirst(a, b) {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

export function position(cursor) {
  const found = /^[A-Za-z0-9]+:(\d+)$/.exec(cursor ?? "");
  return found ? BigInt(found[1]) : -1n;
}
