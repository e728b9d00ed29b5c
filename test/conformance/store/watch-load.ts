/**
 * Several writers, watchers that come and go, and a compaction; the events of every watcher are compared with the commits
 * (src/testing/watch-history.ts).
 */
import { describe, expect, test } from "vitest";
import type { Random } from "../../../src/base/loop/loop.ts";
import { seededRandom } from "../../../src/base/loop/random.ts";
import { StoreError } from "../../../src/store/store-error.ts";
import type { Change, Watch } from "../../../src/store/store.ts";
import {
  countEvents,
  watchViolations,
  type RecordedStep,
  type RecordedWatch,
  type WatchHistory,
} from "../../../src/testing/watch-history.ts";
import type { RecordedTransaction } from "../../../src/testing/watch-replay.ts";
import { until, type StoreEngine, type StoreFixture } from "../store-fixture.ts";
import { put, remove } from "./arrange.ts";

const WRITERS = 6;
const WATCHERS = 8;
const PREFIXES = ["", "pods/", "pods/a/", "pods/b/", "nodes/", "pods/a/1", "nodes/3"];

export function describeWatchLoad(engine: StoreEngine): void {
  describe("under load", () => {
    test.each([1, 2, 3])("all watch promises hold (seed %i)", async (seed) => {
      await using world = await engine.open(seed);
      const load = new Load(world, engine.loadTransactions, seed);

      const history = await load.run();

      expect(watchViolations(history)).toEqual([]);
      expect(load.wentBack).toBe(0);
      expect(history.transactions.length).toBeGreaterThanOrEqual(engine.loadTransactions);
      expect(countEvents(history)).toBeGreaterThan(engine.loadTransactions);
      expect(history.compacted).toBeGreaterThan(0);
      expect(history.watches.length).toBeGreaterThan(WATCHERS);
      expect(history.watches.some((watch) => watch.end === "Compacted")).toBe(true);
    });
  });
}

class Load {
  readonly #world: StoreFixture;
  readonly #target: number;
  readonly #random: Random;
  readonly #start: number;
  readonly #transactions: RecordedTransaction[] = [];
  readonly #watches: RecordedWatch[] = [];
  #compacted = 0;
  /** Number of times the revision of a watch went back. */
  wentBack = 0;
  #phase: "writing" | { readonly end: number } = "writing";

  constructor(world: StoreFixture, target: number, seed: number) {
    this.#world = world;
    this.#target = target;
    this.#random = seededRandom("watch load", seed);
    this.#start = world.store.view.revision;
  }

  async run(): Promise<WatchHistory> {
    const watching = Array.from({ length: WATCHERS }, (_, index) => this.#keepWatching(`watcher ${index}`));
    const compacting = this.#keepCompacting();
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => this.#write(index)));
    this.#phase = { end: this.#world.store.view.revision };
    await Promise.all([...watching, compacting]);
    return { transactions: this.#transactions, watches: this.#watches, compacted: this.#compacted };
  }

  /** Each writer owns its keys, so that it knows the effect of a deletion. */
  async #write(writer: number): Promise<void> {
    const { root, store } = this.#world;
    const alive = new Set<string>();
    while (this.#transactions.length < this.#target) {
      const keys = new Set(Array.from({ length: 1 + this.#random.below(4) }, () => root + this.#key(writer)));
      const changes = [...keys].map((key) => this.#change(key, alive));
      const { revision } = await store.write({ changes });
      this.#transactions.push({ revision, changes: changes.map(recorded) });
      if (this.#random.below(8) === 0) await this.#world.pass(0);
    }
  }

  #key(writer: number): string {
    const folder = ["pods/a/", "pods/b/", "nodes/"][this.#random.below(3)] ?? "";
    return `${folder}${writer + WRITERS * this.#random.below(5)}`;
  }

  #change(key: string, alive: Set<string>): Change {
    if (alive.has(key) && this.#random.below(3) === 0) {
      alive.delete(key);
      return remove(key);
    }
    alive.add(key);
    return put(key, `${this.#transactions.length} ${"x".repeat(this.#random.below(60))}`);
  }

  async #keepCompacting(): Promise<void> {
    const { store } = this.#world;
    while (this.#phase === "writing") {
      const made = this.#transactions.length;
      await until(
        this.#world,
        "some more is written",
        () => this.#phase !== "writing" || this.#transactions.length >= made + 150,
      );
      const revision = store.view.revision - this.#random.below(40);
      this.#compacted = Math.max(this.#compacted, revision);
      await store.compact(revision);
    }
  }

  /** Opens one watch after another: resumed at the end of the last one, or at a random revision. */
  async #keepWatching(name: string): Promise<void> {
    let after = this.#start;
    for (let session = 0; !this.#hasSeenAll(after); session += 1) {
      const prefix = this.#prefix();
      const recorded = await this.#watchOnce({ name: `${name}.${session}`, prefix, after });
      this.#watches.push(recorded);
      if (recorded.end !== "Left") after = this.#world.store.view.revision;
      else if (this.#phase === "writing" && this.#random.below(4) === 0) after = this.#pastRevision(after);
      else after = reachedBy(recorded);
    }
  }

  #prefix(): string {
    const prefix = PREFIXES[this.#random.below(PREFIXES.length)] ?? "";
    return prefix === "" ? "" : this.#world.root + prefix;
  }

  #hasSeenAll(after: number): boolean {
    return this.#phase !== "writing" && after >= this.#phase.end;
  }

  /** Some watches resume so far back that the store must refuse them. */
  #pastRevision(after: number): number {
    return Math.max(this.#start, after - this.#random.below(400));
  }

  async #watchOnce(asked: { name: string; prefix: string; after: number }): Promise<RecordedWatch> {
    const session: Session = { steps: [], state: "open" };
    try {
      const watch = this.#world.store.watch(asked);
      await Promise.all([this.#read(watch, session), this.#lookAt(watch, session)]);
      return { ...asked, steps: session.steps, end: "Left" };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return { ...asked, steps: session.steps, end: error.code };
    }
  }

  async #read(watch: Watch, session: Session): Promise<void> {
    let left = 1 + this.#random.below(60);
    try {
      for await (const batch of watch) {
        session.steps.push({ type: "batch", batch });
        left -= 1;
        if (left === 0) return;
        if (this.#random.below(10) === 0) await this.#world.pass(0);
      }
    } finally {
      session.state = "over";
    }
  }

  /** Notes the revision of the watch now and then, and closes it after a while. */
  async #lookAt(watch: Watch, session: Session): Promise<void> {
    let last = 0;
    for (let left = 1 + this.#random.below(80); left > 0 && session.state === "open"; left -= 1) {
      const { revision } = watch;
      if (revision < last) this.wentBack += 1;
      last = revision;
      await this.#world.pass(1);
      // Events handed out before the revision was read are recorded by now; a late note proves nothing.
      if (revision >= lastRevision(session)) session.steps.push({ type: "progress", revision });
      if (this.#hasSeenAll(revision)) break;
    }
    watch.close();
  }
}

interface Session {
  readonly steps: RecordedStep[];
  state: "open" | "over";
}

function lastRevision({ steps }: Pick<Session, "steps">): number {
  const last = steps.at(-1);
  if (last === undefined) return 0;
  return last.type === "progress" ? last.revision : last.batch.revision;
}

/** Revision at which a watch can be resumed: the last one it claimed to have delivered. */
function reachedBy(watch: RecordedWatch): number {
  return Math.max(watch.after, lastRevision({ steps: [...watch.steps] }));
}

function recorded(change: Change): RecordedTransaction["changes"][number] {
  return { key: change.key, value: change.type === "put" ? change.value : undefined };
}
