// One live connection: EventSource with a reconnect of our own, so that a stream that ends at once, or a server that
// restarts, is never hammered. It tells its state honestly and never clears what is shown.

const FIRST = 500;
const LONGEST = 30_000;
const WATCH = 30_000;
const OPENING = 10_000;

export class Stream {
  // `handlers`: message(kind, data, id), state(LIVE|RECONNECTING, reason), check() → whether a sign of life was had.
  constructor(path, handlers) {
    this.path = path;
    this.handlers = handlers;
    this.cursor = null;
    this.failures = 0;
    this.source = null;
    this.timer = 0;
    this.closed = false;
    this.greeted = false;
    this.open();
  }

  open() {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.source?.close();
    this.greeted = false;
    const after = this.cursor === null ? "" : `?after=${encodeURIComponent(this.cursor)}`;
    const source = new EventSource(this.path + after);
    this.source = source;
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => source === this.source && this.heard(kind, event));
    }
    source.onerror = () => source === this.source && this.failed("the connection was lost");
    this.timer = setTimeout(() => this.failed("no answer"), OPENING);
  }

  heard(kind, event) {
    let data;
    try {
      data = JSON.parse(event.data);
    } catch {
      return;
    }
    this.greeted = true;
    clearTimeout(this.timer);
    // A greeting alone is no success: a server that ends each stream at once also greets.
    if (kind !== "hello") this.failures = 0;
    this.timer = setTimeout(() => this.watch(), WATCH * (0.8 + 0.4 * Math.random()));
    this.handlers.message(kind, data, event.lastEventId);
  }

  // Comments keep the connection open but scripts do not see them; so ask, now and then, whether all is well.
  async watch() {
    const fine = await this.handlers.check();
    if (this.closed) return;
    if (!fine) return this.failed("no answer");
    this.failures = 0;
    this.timer = setTimeout(() => this.watch(), WATCH * (0.8 + 0.4 * Math.random()));
  }

  failed(reason) {
    if (this.closed) return;
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
    this.failures += 1;
    this.handlers.state("RECONNECTING", reason);
    const pause = Math.min(LONGEST, FIRST * 2 ** Math.min(this.failures, 10)) * (0.5 + Math.random() / 2);
    this.timer = setTimeout(async () => {
      if (await this.handlers.check()) this.open();
      else this.failed("no answer");
    }, pause);
  }

  // Something says that now is a better time than later: the network is back, the page is looked at again.
  nudge() {
    if (this.closed) return;
    this.failures = 0;
    if (this.source === null) this.open();
    else {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.watch(), 0);
    }
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }
}

const KINDS = [
  ...["hello", "reset", "task.summary", "task.detail", "task.removed", "access.granted", "access.revoked"],
  ...["notice.read", "broadcast.project", "broadcast.tenant", "broadcast.system"],
];
