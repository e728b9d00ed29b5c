/**
 * Detects control loops that never settle, and slows them down. It reports them by an Event, a metric and a log line
 * with the object, the writers and the field. A hot loop is one of:
 *
 * - passes of a key that keep writing although only their own writes change anything;
 * - a field that two writers set back and forth;
 * - passes of a key that ask for a recheck again and again within moments.
 *
 * All memory is bounded. A forgotten loop is detected again a little later.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Causes } from "../../api/causes/cause.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Counter, Metrics } from "../../base/metrics/metrics.ts";
import type { WriteResult } from "../../client/client.ts";
import type { ObjectChange } from "../cache/object-change.ts";
import type { EventSink } from "../events/event-correlation.ts";
import { changedFields, fieldText, otherWriter, type ChangedField } from "../refs/changed-fields.ts";
import { RecentMap } from "../refs/recent-map.ts";

/** More consecutive passes than a controller needs that works in batches. */
const PASSES_MAX = 50;
/** A field that returns to an earlier value this often within the window has two competing writers. */
const FLIPS_MAX = 5;
const WINDOW_MS = 60_000;
/** Pause between passes of a hot key: starts at HOLD_FIRST_MS and doubles up to HOLD_MAX_MS. */
const HOLD_FIRST_MS = 1000;
const HOLD_MAX_MS = 60_000;
/** Interval between reports of a key that stays hot. */
const REPORT_MS = 300_000;
/** A key whose passes ask for this many rechecks within the window is polled too often. */
const RECHECKS_MAX = 50;
const RECHECK_WINDOW_MS = 10_000;
const REMEMBERED_WRITES = 4096;
const REMEMBERED_KEYS = 1024;
/** Per object; the fields that changed last. */
const REMEMBERED_FIELDS = 16;

export interface HotLoopGuardOptions {
  /** Name of the controller, which is also its field manager. */
  readonly controller: string;
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly recorder: EventSink;
}

/** Consecutive passes of a key that wrote something and were caused only by the controller's own writes. */
interface OwnPasses {
  count: number;
  since: number;
  written: ApiObject;
  field: string | undefined;
}

/** Consecutive passes of a key that asked for a recheck. */
interface Rechecks {
  count: number;
  since: number;
}

interface ContestedObject {
  readonly key: string;
  overwrites: number;
  /** By the text of the path. */
  readonly fields: RecentMap<FlippingField>;
}

interface FlippingField {
  readonly ours: string;
  readonly theirs: string;
  readonly since: number;
  flips: number;
}

interface HotKey {
  level: number;
  /** Elapsed time at which it was last found to be hot. */
  at: number;
  reportedAt: number;
}

interface Report {
  readonly type: "own writes" | "field flips" | "rechecks";
  readonly object: ApiObject;
  readonly writers: readonly string[];
  readonly field: string | undefined;
  readonly message: string;
}

export class HotLoopGuard {
  readonly #options: HotLoopGuardOptions;
  readonly #found: Counter;
  /** Key whose pass wrote a resourceVersion. */
  readonly #ownVersions = new RecentMap<string>(REMEMBERED_WRITES);
  readonly #ownPasses = new RecentMap<OwnPasses>(REMEMBERED_KEYS);
  readonly #contested = new RecentMap<ContestedObject>(REMEMBERED_KEYS);
  readonly #rechecks = new RecentMap<Rechecks>(REMEMBERED_KEYS);
  readonly #hot = new RecentMap<HotKey>(REMEMBERED_KEYS);

  constructor(options: HotLoopGuardOptions) {
    this.#options = options;
    this.#found = options.metrics.counter({
      name: "setpoint_hot_loops_total",
      help: "Control loops found that do not settle, by cause.",
      labels: ["controller", "type"],
    });
  }

  /** True when the write changed something. An unchanged object returns a version that is known already. */
  noteWrite(key: string, { object, outcome }: WriteResult): boolean {
    if (outcome === "deleted") return true;
    if (outcome === "absent") return false;
    const { resourceVersion = "" } = object.metadata;
    const isKnown = this.#isOwn(resourceVersion);
    this.#ownVersions.set(resourceVersion, key);
    return !isKnown;
  }

  /** Notes a change that the cache received. */
  noteChange({ before, after }: ObjectChange<ApiObject>): void {
    // Runs for every change of every watched object. Most controllers have written nothing lately: return early.
    if (before === undefined || after === undefined || this.#ownVersions.size === 0) return;
    const key = this.#ownVersions.peek(before.metadata.resourceVersion ?? "");
    if (key === undefined || this.#isOwn(after.metadata.resourceVersion ?? "")) return;
    this.#noteOverwrite(key, before, after);
  }

  /** Milliseconds to hold the key back after this pass. `written` is the last object that the pass really changed. */
  holdMs(key: string, causes: Causes, written: ApiObject | undefined): number {
    if (written === undefined) this.#ownPasses.delete(key);
    else if (this.#noteOwnPass(key, causes, written)) return this.#nextHoldMs(key);
    const hot = this.#hot.get(key);
    if (hot === undefined) return 0;
    if (this.#options.loop.elapsed() - hot.at <= WINDOW_MS + HOLD_MAX_MS) return holdOf(hot.level);
    this.#hot.delete(key);
    return 0;
  }

  /**
   * Milliseconds to hold the key back after a pass that asked for a recheck; `afterMs` is undefined when it did not.
   * A key whose rechecks are far apart is never held back.
   */
  noteRecheck(key: string, afterMs: number | undefined, object: ApiObject | undefined): number {
    if (afterMs === undefined) {
      this.#rechecks.delete(key);
      return 0;
    }
    const now = this.#options.loop.elapsed();
    const known = this.#rechecks.get(key);
    if (known === undefined || (known.count < RECHECKS_MAX && now - known.since > RECHECK_WINDOW_MS)) {
      this.#rechecks.set(key, { count: 1, since: now });
      return 0;
    }
    known.count++;
    if (known.count < RECHECKS_MAX || afterMs * RECHECKS_MAX >= RECHECK_WINDOW_MS) return 0;
    if (object !== undefined) this.#reportRechecks(key, object, { count: known.count, afterMs });
    return this.#nextHoldMs(key);
  }

  #reportRechecks(key: string, object: ApiObject, passes: { count: number; afterMs: number }): void {
    const { controller } = this.#options;
    this.#report(key, {
      type: "rechecks",
      object,
      writers: [controller],
      field: undefined,
      message:
        `${controller} asks for a recheck after ${String(passes.afterMs)} ms again and again ` +
        `(${String(passes.count)} passes): watch the object that it waits for, or ask for seconds`,
    });
  }

  /** True when the key is hot because of its own writes. */
  #noteOwnPass(key: string, causes: Causes, written: ApiObject): boolean {
    const now = this.#options.loop.elapsed();
    const known = this.#ownPasses.get(key);
    const isOwn = causes.kept.every((cause) =>
      cause.type === "object" ? this.#isOwn(cause.resourceVersion) : cause.type === "retry",
    );
    const isHot = known !== undefined && known.count >= PASSES_MAX;
    if (known === undefined || !isOwn || (!isHot && now - known.since > WINDOW_MS)) {
      this.#ownPasses.set(key, { count: 1, since: now, written, field: undefined });
      return false;
    }
    known.count++;
    const isSame = known.written.metadata.uid === written.metadata.uid;
    // Compared only near the limit: the comparison costs more than all the rest.
    const [changed] = isSame && known.count >= PASSES_MAX - 1 ? changedFields(known.written, written) : [];
    known.field = changed === undefined ? known.field : fieldText(changed.path);
    known.written = written;
    if (known.count < PASSES_MAX) return false;
    this.#reportOwnPasses(key, known);
    return true;
  }

  #reportOwnPasses(key: string, { count, written, field }: OwnPasses): void {
    const { controller } = this.#options;
    const at = field === undefined ? "" : `, last at ${field}`;
    this.#report(key, {
      type: "own writes",
      object: written,
      writers: [controller],
      field,
      message: `${controller} keeps writing although nothing else changes: ${count} passes in a row${at}`,
    });
  }

  /** Ignores the first overwrite: most objects have several writers that take turns once. */
  #noteOverwrite(key: string, ours: ApiObject, theirs: ApiObject): void {
    const { uid = "" } = theirs.metadata;
    const contested = this.#contested.get(uid) ?? {
      key,
      overwrites: 0,
      fields: new RecentMap(REMEMBERED_FIELDS),
    };
    if (contested.overwrites === 0) this.#contested.set(uid, contested);
    contested.overwrites++;
    if (contested.overwrites < 2) return;
    for (const field of changedFields(ours, theirs)) {
      if (this.#isContested(contested, field)) this.#reportContested(contested.key, theirs, field.path);
    }
  }

  #isContested({ fields }: ContestedObject, { path, before, after }: ChangedField): boolean {
    const now = this.#options.loop.elapsed();
    const text = fieldText(path);
    const [ours, theirs] = [textOf(before), textOf(after)];
    const known = fields.get(text);
    const isSame = known?.ours === ours && known.theirs === theirs && now - known.since <= WINDOW_MS;
    if (!isSame) {
      fields.set(text, { ours, theirs, since: now, flips: 1 });
      return false;
    }
    known.flips++;
    if (known.flips < FLIPS_MAX) return false;
    fields.set(text, { ours, theirs, since: now, flips: FLIPS_MAX - 1 });
    return true;
  }

  #reportContested(key: string, object: ApiObject, path: readonly string[]): void {
    const { controller } = this.#options;
    const other = otherWriter(object, path, controller) ?? "another writer";
    const field = fieldText(path);
    this.#nextHoldMs(key);
    this.#report(key, {
      type: "field flips",
      object,
      writers: [controller, other],
      field,
      message: `${controller} and ${other} set ${field} back and forth`,
    });
  }

  #nextHoldMs(key: string): number {
    const now = this.#options.loop.elapsed();
    const known = this.#hot.get(key);
    const hot = known ?? { level: -1, at: now, reportedAt: -Infinity };
    if (known === undefined) this.#hot.set(key, hot);
    hot.level++;
    hot.at = now;
    return holdOf(hot.level);
  }

  #report(key: string, { type, object, writers, field, message }: Report): void {
    const { controller, loop, log, recorder } = this.#options;
    this.#found.add(1, { controller, type });
    const now = loop.elapsed();
    const hot = this.#hot.get(key) ?? { level: -1, at: now, reportedAt: -Infinity };
    this.#hot.set(key, hot);
    if (now - hot.reportedAt < REPORT_MS) return;
    hot.reportedAt = now;
    const { namespace = "", name = "" } = object.metadata;
    log.warn("a control loop does not settle and is slowed down", {
      object: `${object.kind} ${namespace}/${name}`,
      key,
      field,
      writers,
      type,
      message,
    });
    recorder.record({
      component: controller,
      about: object,
      event: { type: "Warning", reason: "HotLoop", message },
    });
  }

  #isOwn(resourceVersion: string): boolean {
    return this.#ownVersions.peek(resourceVersion) !== undefined;
  }
}

function holdOf(level: number): number {
  return Math.min(HOLD_MAX_MS, HOLD_FIRST_MS * 2 ** Math.max(0, Math.min(level, 16)));
}

function textOf(value: unknown): string {
  return value === undefined ? "" : stringifyJson(value);
}
