/** Applies the events of an etcd watch to a state. */
import type { Commit } from "../commit.ts";
import type { State } from "../state.ts";
import type { Entry, WatchEvent } from "../store.ts";
import { toEntry, type Keyspace } from "./keyspace.ts";
import { EVENT_DELETE, keyString, type EtcdEvent } from "./wire/etcd-protocol.ts";

/** The events do not fit the state: an earlier one is missing. */
export class GapError extends Error {
  override readonly name = "GapError";
}

export interface FeedOptions {
  readonly keyspace: Keyspace;
  readonly now: number;
  /** Called for every entry before it becomes visible. */
  readonly made: (entry: Entry) => void;
}

/** A commit and the state after it. */
interface Step {
  readonly commit: Commit;
  readonly state: State;
}

/** Events of one revision in transaction order; only those of the keyspace. */
export function revisionsOf(events: readonly EtcdEvent[], keyspace: Keyspace): Map<number, EtcdEvent[]> {
  const revisions = new Map<number, EtcdEvent[]>();
  for (const event of events) {
    if (!keyspace.has(keyString(event.kv.key))) continue;
    const same = revisions.get(event.kv.mod_revision);
    if (same === undefined) revisions.set(event.kv.mod_revision, [event]);
    else same.push(event);
  }
  return revisions;
}

/**
 * Returns one advance per revision that changed keys of the store. Known revisions are skipped: etcd has had bugs by
 * which a watch repeated the past (etcd#15271). Throws GapError when an event is missing (etcd#17529, #18089).
 */
export function advancesOf(state: State, events: readonly EtcdEvent[], options: FeedOptions): Step[] {
  const advances: Step[] = [];
  let current = state;
  for (const [revision, group] of revisionsOf(events, options.keyspace)) {
    if (revision <= current.revision) continue;
    const changes = group.map((event, ordinal) => change(current, event, ordinal));
    for (const { after } of changes) if (after !== undefined) options.made(after);
    current = current.with(revision, changes);
    advances.push({
      commit: { revision, time: options.now, events: changes, ...current.live },
      state: current,
    });
  }
  return advances;
}

function change(state: State, event: EtcdEvent, ordinal: number): WatchEvent {
  const key = keyString(event.kv.key);
  const revision = event.kv.mod_revision;
  const before = state.get(key);
  const after = event.type === EVENT_DELETE ? undefined : toEntry(event.kv, ordinal);
  if (!follows(before, after)) {
    const expected = after === undefined ? "a key that exists" : `version ${String(after.version - 1)}`;
    const found = before === undefined ? "nothing" : `version ${String(before.version)}`;
    throw new GapError(`expected ${expected} of ${key} before revision ${String(revision)}, found ${found}`);
  }
  return { revision, ordinal, key, before, after };
}

function follows(before: Entry | undefined, after: Entry | undefined): boolean {
  if (after === undefined) return before !== undefined;
  if (before === undefined) return after.version === 1;
  return after.createRevision === before.createRevision && after.version === before.version + 1;
}
