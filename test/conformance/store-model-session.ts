/**
 * One run of random actions. A watch of everything follows the store from the start; the model applies its events after checking each
 * revision: it is either a writer's, or the expiry of keys that were due.
 */
import { expect } from "vitest";
import { isStoreError } from "../../src/store/store-error.ts";
import {
  prefixEnd,
  type Change,
  type Committed,
  type Compare,
  type Entry,
  type View,
  type WatchEvent,
} from "../../src/store/store.ts";
import { inWatchRange, type PlannedEntry, type RecordedTransaction } from "../../src/testing/watch-replay.ts";
import { KEYS, PREFIXES, type Claim, type ModelAction, type ModelChange } from "./store-actions.ts";
import { until, type StoreEngine, type StoreFixture } from "./store-fixture.ts";
import { StoreModel } from "./store-model.ts";
import { codeOf, put, reached, record, remove, type Recording } from "./store/arrange.ts";

/** Totals over all runs; they show that the runs were not idle. */
export interface SessionCounts {
  commits: number;
  refusals: number;
  endings: number;
  reads: number;
  watched: number;
  compactions: number;
  reopens: number;
}

interface Attempt {
  readonly changes: readonly Change[];
  readonly compare: readonly Compare[];
}

interface Answer extends Attempt {
  readonly revision: number;
  /** Earliest time at which each key may expire. */
  readonly ends: ReadonlyMap<string, number>;
}

export class ModelSession {
  readonly #world: StoreFixture;
  readonly #engine: StoreEngine;
  readonly #counts: SessionCounts;
  readonly #model: StoreModel;
  #tail: Recording;
  /** Number of tail events that the model has applied. */
  #known = 0;
  #written = 0;

  constructor(world: StoreFixture, engine: StoreEngine, counts: SessionCounts) {
    this.#world = world;
    this.#engine = engine;
    this.#counts = counts;
    this.#model = new StoreModel(world.store.view.revision);
    this.#tail = this.#follow();
  }

  async perform(action: ModelAction): Promise<void> {
    await this.#take(action);
    this.#checkNewest();
  }

  /** Every retained revision reads as it was. */
  async finish(): Promise<void> {
    for (const revision of this.#model.revisions)
      if (revision >= this.#model.compacted) await this.#read(revision, "");
    await this.#watch(Math.max(this.#model.compacted, this.#model.revisions[0] ?? 0), "");
    this.#tail.watch.close();
  }

  async #take(action: ModelAction): Promise<void> {
    switch (action.type) {
      case "write":
        return await this.#write(action);
      case "burst":
        return await this.#settle(
          Array.from({ length: action.count }, (_, index) => this.#attempt([{ ...PLAIN, key: -1 - index }])),
        );
      case "race":
        return await this.#race(action);
      case "read":
        return await this.#read(this.#revision(action.at), PREFIXES[action.prefix] ?? "");
      case "watch":
        return await this.#watch(
          Math.min(this.#revision(action.after), this.#model.newest.revision),
          PREFIXES[action.prefix] ?? "",
        );
      case "compact":
        return await this.#compact(Math.min(this.#revision(action.at), this.#model.newest.revision));
      case "elapse":
        return await this.#elapse(action.ttlUnits * this.#engine.ttlUnitMs);
      case "reopen":
        return await this.#reopen();
    }
  }

  async #write({ changes, claims }: Extract<ModelAction, { type: "write" }>): Promise<void> {
    const compare = claims.map(({ key, claim }) => this.#compare(key, claim));
    await this.#settle([this.#attempt(changes, compare)]);
  }

  async #race({ key, count, claim }: Extract<ModelAction, { type: "race" }>): Promise<void> {
    const compare = [this.#compare(key, claim)];
    await this.#settle(Array.from({ length: count }, () => this.#attempt([{ ...PLAIN, key }], compare)));
  }

  #attempt(changes: readonly ModelChange[], compare: readonly Compare[] = []): Attempt {
    return { changes: changes.map((change) => this.#change(change)), compare };
  }

  #change({ key, type, ttlUnits, size }: ModelChange): Change {
    const name = this.#key(key);
    if (type === "delete") return remove(name);
    this.#written += 1;
    const value = `${this.#written}${"x".repeat(size)}`;
    return put(name, value, ttlUnits === 0 ? {} : { ttlMs: ttlUnits * this.#engine.ttlUnitMs });
  }

  #compare(index: number, claim: Claim): Compare {
    const key = this.#key(index);
    const modRevision = this.#model.newest.entries.get(key)?.modRevision ?? 0;
    if (claim === "true") return { key, modRevision };
    return { key, modRevision: claim === "absent" ? 0 : modRevision + 1 };
  }

  /** Indexes below 0 are keys that only a burst writes. */
  #key(index: number): string {
    return this.#world.root + (KEYS[index] ?? `burst/${index}`);
  }

  /** Submits all at once; the model then judges them in the order of their revisions. */
  async #settle(attempts: readonly Attempt[]): Promise<void> {
    const { store, loop } = this.#world;
    const now = loop.now();
    const outcomes = await Promise.allSettled(attempts.map((attempt) => store.write(attempt)));
    const answers: Answer[] = [];
    const refused: Attempt[] = [];
    for (const [index, attempt] of attempts.entries()) {
      const outcome = outcomes[index];
      if (outcome?.status === "fulfilled")
        answers.push({
          ...attempt,
          revision: checkedAnswer(attempt, outcome.value),
          ends: endsOf(attempt, now),
        });
      else if (isStoreError(outcome?.reason, "ConditionFailed")) refused.push(attempt);
      else throw outcome?.reason;
    }
    await this.#learn(answers, refused);
  }

  /** Applies everything up to the visible revision to the model. */
  async #learn(answers: readonly Answer[], refused: readonly Attempt[] = []): Promise<void> {
    await reached(this.#world, this.#tail, this.#world.store.view.revision);
    const isRefusable = new Set(refused.filter(({ compare }) => !this.#model.holds(compare)));
    const open = new Map(
      answers.filter((answer) => this.#hasEffect(answer)).map((answer) => [answer.revision, answer]),
    );
    for (const events of byRevision(this.#news())) {
      this.#takeRevision(events, open);
      for (const attempt of refused) if (!this.#model.holds(attempt.compare)) isRefusable.add(attempt);
    }
    this.#known = this.#tail.events.length;
    expect([...open.keys()], "answered, but told to no watcher").toEqual([]);
    expect(isRefusable.size, "refused, though the precondition held all the time").toBe(refused.length);
    this.#counts.refusals += refused.length;
  }

  /** A deletion of an absent key makes no revision: its response names another's. */
  #hasEffect({ changes, revision }: Answer): boolean {
    const isDeleted = ({ key, type }: Change): boolean =>
      type === "delete" && this.#news().some((event) => event.revision === revision && event.key === key);
    return changes.some(({ type }) => type === "put") || changes.some(isDeleted);
  }

  #news(): WatchEvent[] {
    return this.#tail.events.slice(this.#known);
  }

  #takeRevision(events: readonly WatchEvent[], open: Map<number, Answer>): void {
    const revision = events[0]?.revision ?? 0;
    const answer = open.get(revision);
    open.delete(revision);
    if (answer === undefined) this.#checkEndings(events);
    else
      expect(
        this.#model.holds(answer.compare),
        `revision ${revision} was taken against its precondition`,
      ).toBe(true);
    const changes =
      answer === undefined
        ? events.map(({ key }) => ({ key, value: undefined }))
        : answer.changes.map(recorded);
    const before = this.#model.newest.revision;
    this.#model.commit({ revision, changes }, answer?.ends ?? new Map());
    expect(events.map(shortEvent)).toEqual(this.#model.eventsAfter(before, "").map(shortEvent));
    this.#counts.commits += 1;
  }

  #checkEndings(events: readonly WatchEvent[]): void {
    const due = new Set(this.#model.dueBy(this.#world.loop.now()));
    for (const { key, revision, after } of events) {
      expect(after, `${key} at ${revision} was written by nobody`).toBeUndefined();
      expect(due.has(key), `${key} ended at ${revision} before its time`).toBe(true);
      this.#counts.endings += 1;
    }
  }

  async #read(revision: number, suffix: string): Promise<void> {
    const { store, root } = this.#world;
    const prefix = root + suffix;
    if (revision > this.#model.newest.revision) return await this.#readFuture(prefix);
    let view: View | undefined;
    const code = await codeOf(async () => {
      view = await store.at(revision, prefix);
    });
    if (revision < this.#model.compacted) return expect(code).toBe("Compacted");
    if (code === "Compacted" && this.#mayBeGone(revision)) return;
    expect(code, `read at ${revision}`).toBe("none");
    expect(shortView(view, prefix)).toEqual(this.#planned(revision, prefix));
    this.#counts.reads += 1;
  }

  /** Far ahead, because other stores on the same etcd move its revision too. */
  async #readFuture(prefix: string): Promise<void> {
    expect(await codeOf(() => this.#world.store.at(this.#model.newest.revision + 100_000, prefix))).toBe(
      "FutureRevision",
    );
  }

  async #watch(after: number, suffix: string): Promise<void> {
    const prefix = this.#world.root + suffix;
    const { revision } = this.#model.newest;
    let recording: Recording | undefined;
    const code = await codeOf(async () => {
      recording = record(this.#world.store.watch({ prefix, after }));
      await until(
        this.#world,
        "the watch arrives or ends",
        () => recording?.end !== undefined || (recording?.watch.revision ?? 0) >= revision,
      );
    });
    const end = code === "none" ? recording?.end : code;
    recording?.watch.close();
    if (end === "Compacted" && this.#mayBeGone(after)) return;
    expect(end, `watch after ${after}`).toBeUndefined();
    const told = (recording?.events ?? []).filter((event) => event.revision <= revision);
    expect(told.map(shortEvent)).toEqual(this.#model.eventsAfter(after, prefix).map(shortEvent));
    this.#counts.watched += told.length;
  }

  /** The newest revision is always there. */
  #mayBeGone(revision: number): boolean {
    if (revision < this.#model.compacted) return true;
    return this.#engine.window === "short" && revision < this.#model.newest.revision;
  }

  async #compact(revision: number): Promise<void> {
    await this.#world.store.compact(revision);
    this.#model.compact(revision);
    this.#counts.compactions += 1;
  }

  async #elapse(ms: number): Promise<void> {
    const { store, loop } = this.#world;
    await this.#world.pass(ms);
    const isOverdue = (): boolean =>
      this.#model.dueBy(loop.now() - this.#engine.ttlUnitMs).some((key) => store.view.get(key) !== undefined);
    await until(this.#world, "keys end when their time has come", () => !isOverdue());
    await this.#learn([]);
  }

  async #reopen(): Promise<void> {
    await this.#world.reopen();
    this.#tail = this.#follow();
    this.#known = 0;
    await this.#learn([]);
    this.#counts.reopens += 1;
  }

  #follow(): Recording {
    return record(this.#world.store.watch({ prefix: this.#world.root, after: this.#model.newest.revision }));
  }

  #checkNewest(): void {
    const { store, root } = this.#world;
    // More keys may have expired since the model looked.
    if (store.view.revision !== this.#model.newest.revision) return;
    expect(shortView(store.view, root)).toEqual(this.#planned(this.#model.newest.revision, root));
  }

  #planned(revision: number, prefix: string): string[] {
    return [...this.#model.stateAt(revision).entries.values()]
      .filter((entry) => inWatchRange(entry.key, prefix))
      .map(shortEntry)
      .toSorted();
  }

  /** A fraction of the way from the first revision to one beyond the newest. */
  #revision(fraction: number): number {
    const first = this.#model.revisions[0] ?? 0;
    return first + Math.floor(fraction * (this.#model.newest.revision + 2 - first));
  }
}

const PLAIN: ModelChange = { key: 0, type: "put", ttlUnits: 0, size: 5 };

function checkedAnswer({ changes }: Attempt, { entries, revision }: Committed): number {
  expect(entries).toHaveLength(changes.length);
  for (const [index, change] of changes.entries()) {
    const entry = entries[index];
    if (change.type === "delete") expect(entry).toBeUndefined();
    else expect(entry).toMatchObject({ key: change.key, modRevision: revision });
  }
  return revision;
}

function endsOf({ changes }: Attempt, now: number): Map<string, number> {
  const ends = new Map<string, number>();
  for (const change of changes)
    if (change.type === "put" && change.ttlMs !== undefined) ends.set(change.key, now + change.ttlMs);
  return ends;
}

function recorded(change: Change): RecordedTransaction["changes"][number] {
  return { key: change.key, value: change.type === "put" ? change.value : undefined };
}

function byRevision(events: readonly WatchEvent[]): WatchEvent[][] {
  const groups: WatchEvent[][] = [];
  for (const event of events) {
    const group = groups.at(-1);
    if (group?.[0]?.revision === event.revision) group.push(event);
    else groups.push([event]);
  }
  return groups;
}

type AnyEntry = Pick<Entry | PlannedEntry, "key" | "value" | "createRevision" | "modRevision" | "version">;

function shortEntry({ key, value, createRevision, modRevision, version }: AnyEntry): string {
  return `${key} ${createRevision}/${modRevision} v${version} ${Buffer.from(value).toString("latin1")}`;
}

function shortEvent(event: {
  revision: number;
  key: string;
  before: AnyEntry | undefined;
  after: AnyEntry | undefined;
}): string {
  const [before, after] = [event.before, event.after].map((entry) =>
    entry === undefined ? "-" : shortEntry(entry),
  );
  return `${event.revision} ${event.key}: ${before} -> ${after}`;
}

function shortView(view: View | undefined, prefix: string): string[] {
  const entries = [...(view?.range(prefix, prefixEnd(prefix)) ?? [])];
  return entries.filter(({ key }) => inWatchRange(key, prefix)).map(shortEntry);
}
