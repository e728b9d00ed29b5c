import { describe, expect, test } from "vitest";
import { History, fairShare } from "./history.ts";
import type { HistoryOptions } from "./history.ts";
import { State, StateEditor } from "./state.ts";
import type { Change, Slot } from "./store.ts";
import { advance } from "./transaction.ts";

const PODS = "/registry/pods/";
const MAPS = "/registry/configmaps/";
const LEASES = "/registry/leases/";
const SECOND = 1000;

/** A history and its state, kept together as the mirror does. */
class Recorder {
  readonly history: History;
  state = State.empty();

  constructor(options: HistoryOptions = {}) {
    this.history = new History(options, 0);
  }

  put(key: string, time: number, bytes = 10): number {
    const editor = new StateEditor(this.state);
    const commit = advance(
      editor,
      { changes: [{ type: "put", key, value: new Uint8Array(bytes) }] },
      { now: time },
    );
    if (commit === undefined) throw new Error("a put always changes something");
    this.history.append([commit], this.state, editor.state());
    this.state = editor.state();
    return commit.revision;
  }

  /** Writes one key `count` times, spread evenly over the time. */
  flood(key: string, { from, to, count }: { from: number; to: number; count: number }): void {
    for (let n = 0; n < count; n++) this.put(key, from + ((to - from) * n) / count, 1000);
  }
}

/** Random puts and deletions of a few pods. */
function someChange(n: number): Change {
  const key = `${PODS}${String((n * n) % 17)}`;
  return n % 5 === 4 ? { type: "delete", key } : { type: "put", key, value: Buffer.of(n) };
}

interface Expected {
  readonly states: ReadonlyMap<number, State>;
  readonly floor: number;
  readonly head: State;
}

function expectStates(history: History, { states, floor, head }: Expected): void {
  expect(history.floor(MAPS)).toBe(floor);
  for (const [revision, state] of states) {
    if (revision < floor) continue;
    const found = State.ofGroups(revision, history.groupsAt(revision, "", head));
    expect([...found.range("", "~")]).toEqual([...state.range("", "~")]);
  }
}

/** A slot that records whether `release` was called. */
class Told implements Slot {
  isReleased = false;

  release(): void {
    this.isReleased = true;
  }
}

describe("History", () => {
  test("releases entries replaced long ago, but neither recently replaced nor live ones", () => {
    const recorder = new Recorder();
    const slotted = (key: string): Told => {
      const slot = new Told();
      recorder.put(key, 0);
      const entry = recorder.state.get(key);
      if (entry !== undefined) entry.slot = slot;
      return slot;
    };

    const live = slotted(`${PODS}live`);
    const old = slotted(`${PODS}old`);
    recorder.put(`${PODS}old`, 0);
    recorder.flood(`${PODS}busy`, { from: 0, to: SECOND, count: 3000 });
    const late = slotted(`${PODS}late`);
    recorder.put(`${PODS}late`, 0);

    expect([live, old, late].map((slot) => slot.isReleased)).toEqual([false, true, false]);
  });

  test("a group keeps its last 75 seconds however much another one writes", () => {
    const recorder = new Recorder({ maxBytes: 100_000 });
    recorder.put(`${MAPS}a`, 0);
    const quiet = recorder.put(`${MAPS}a`, 30 * SECOND);

    recorder.flood(`${PODS}busy`, { from: 30 * SECOND, to: 100 * SECOND, count: 5000 });

    expect(recorder.history.floor(MAPS)).toBeLessThan(quiet);
    expect(
      recorder.history.slice(quiet - 1, MAPS, recorder.state.revision).events.map((event) => event.key),
    ).toEqual([`${MAPS}a`]);
    expect(recorder.history.floor(PODS)).toBeGreaterThan(quiet);
  });

  test("a flood of leases leaves the others their whole window", () => {
    const recorder = new Recorder({ maxBytes: 1 << 20, ownBudgets: new Map([[LEASES, 50_000]]) });
    const first = recorder.put(`${PODS}a`, 0);

    recorder.flood(`${LEASES}node`, { from: 0, to: 250 * SECOND, count: 5000 });

    expect(recorder.history.floor(PODS)).toBeLessThan(first);
    expect(recorder.history.floor(LEASES)).toBeGreaterThan(4000);
  });

  test("a pool above its budget first drops records older than 75 seconds, oldest first", () => {
    const recorder = new Recorder({ maxBytes: 400 * 2100 });
    recorder.flood(`${PODS}a`, { from: 0, to: 280 * SECOND, count: 500 });

    const kept = recorder.history.slice(recorder.history.floor(PODS), PODS, recorder.state.revision);

    expect(kept.events.length).toBeGreaterThan(500 * (75 / 280));
    expect(kept.events.length).toBeLessThan(450);
  });

  test("records older than the window are dropped", () => {
    const recorder = new Recorder({ windowMs: 60 * SECOND });
    const old = recorder.put(`${PODS}a`, 0);
    const young = recorder.put(`${PODS}a`, 50 * SECOND);

    recorder.history.expire(70 * SECOND);

    expect(recorder.history.floor(PODS)).toBe(old);
    expect(recorder.history.slice(old, PODS, young).events).toHaveLength(1);
  });

  test("a group reads as it was at each revision of the window", () => {
    const recorder = new Recorder();
    const revisions = ["a", "b", "a", "c"].map((name) => recorder.put(`${PODS}${name}`, 0));

    const counts = revisions.map((revision) =>
      State.ofGroups(revision, recorder.history.groupsAt(revision, PODS, recorder.state)).count("", "~"),
    );

    expect(counts).toEqual([1, 2, 2, 3]);
  });

  test("batches can be read and cut at every revision within them, also by a copy", () => {
    const history = new History({}, 1);
    const editor = new StateEditor(State.empty());
    const states = new Map<number, State>();
    let before = editor.state();
    for (let batch = 0; batch < 20; batch++) {
      const commits = Array.from({ length: 1 + ((batch * 7) % 40) }, (_, n) => {
        const change = someChange(batch + n);
        const commit = advance(
          editor,
          { changes: [change, { type: "put", key: `${MAPS}a`, value: Buffer.of(n) }] },
          { now: 0 },
        );
        if (commit === undefined) throw new Error("expected a change");
        states.set(commit.revision, editor.state());
        return commit;
      });
      history.append(commits, before, editor.state());
      before = editor.state();
    }

    for (const floor of [1, 2, 30, 31, 32, 150, before.revision]) {
      history.compact(floor);
      for (const each of [history, history.copy()]) expectStates(each, { states, floor, head: before });
    }
  });

  test("slices over several groups come in order of revision and lose nothing at their edges", () => {
    const recorder = new Recorder();
    for (let n = 0; n < 3000; n++) recorder.put(`${n % 3 === 0 ? MAPS : PODS}${String(n % 50)}`, n);

    const seen: number[] = [];
    for (let after = 0; after < recorder.state.revision;) {
      const slice = recorder.history.slice(after, "/registry/", recorder.state.revision);
      seen.push(...slice.events.map((event) => event.revision));
      after = slice.through;
    }

    expect(seen).toEqual(Array.from({ length: 3000 }, (_, index) => index + 2));
  });

  test("a copy is independent", () => {
    const recorder = new Recorder();
    const first = recorder.put(`${PODS}a`, 0);
    const copy = recorder.history.copy();

    const second = recorder.put(`${PODS}a`, 1);
    copy.compact(first);

    expect(copy.floor(PODS)).toBe(first);
    expect(copy.slice(first, PODS, first).events).toEqual([]);
    expect(recorder.history.slice(0, PODS, second).events).toHaveLength(2);
  });
});

describe("fairShare", () => {
  test.each([
    [[10, 50, 90], 100, 45],
    [[10, 20], 100, Infinity],
    [[100], 30, 30],
    [[], 10, Infinity],
  ])("%j cut to %d together gives the level %d", (sizes, total, level) => {
    expect(fairShare(sizes, total)).toBe(level);
  });
});
