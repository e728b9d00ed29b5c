/**
 * Maintains the objects that clients and controllers expect of an API server. They exist before the first request, and come back when
 * deleted or changed. Many missing objects are created together. All other writes go through the verbs that clients use. A start
 * that finds everything in place writes nothing.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import type { Log } from "../../base/log/log.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import { pause } from "../../base/loop/pause.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { isStoreError } from "../../store/store-error.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Watch } from "../../store/store.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { UnreadableValue } from "../objects/unreadable.ts";
import { keyOf, prefixOf } from "../objects/versions.ts";
import type { WriteParts } from "../verbs/writing.ts";
import type { BootStep } from "./boot-steps.ts";
import type { PeriodicTask } from "./periodic-task.ts";
import { completeManifest, correctionOf } from "./required-objects.ts";
import type { RequiredObjects, RequiredObject, ObsoleteObjects } from "./required-objects.ts";
import { runPeriodicTask } from "./run-periodic-task.ts";
import { ServerWriter } from "./server-writer.ts";

interface Parts extends WriteParts {
  readonly log: Log;
}

/** Changes come in groups. One check covers a whole group. */
const DEBOUNCE = { ms: 100, kind: "progress" } as const;
const BACKOFF = { baseMs: 200, maxMs: 30_000 };
/** Fewer missing objects are created one by one. */
const TOGETHER_MIN = 8;
/** Attempts to put objects in place before the server gives up starting. */
const FIRST_TRIES = 5;

/** At the start a server claims objects that servers share. */
type Phase = "start" | "later";

export interface UpkeepWork {
  /** In the order of the start: later objects rely on earlier ones. */
  readonly required: readonly RequiredObjects[];
  readonly tasks: readonly PeriodicTask[];
}

export class Upkeep {
  readonly #verbParts: Parts;
  readonly #work: UpkeepWork;
  readonly #writer: ServerWriter;
  /** Revision at which the objects were last in place. */
  readonly #inPlaceAt = new Map<RequiredObjects, number>();
  /** Unreadable objects that the log already mentions. */
  readonly #unreadable = new WeakSet<RequiredObject>();
  /** Work that completed at least once. */
  readonly #done = new Set<RequiredObjects | PeriodicTask>();

  constructor(verbParts: Parts, work: UpkeepWork) {
    this.#verbParts = verbParts;
    this.#work = work;
    this.#writer = new ServerWriter(verbParts);
  }

  /** Whether all work of the step completed once since the start. A step without work is never done. */
  isDone(step: BootStep): boolean {
    const { required, tasks } = this.#work;
    const parts = [...required, ...tasks].filter(({ boot }) => boot?.includes(step) === true);
    return parts.length > 0 && parts.every((part) => this.#done.has(part));
  }

  /** Puts everything in place, and rejects if that fails. The server is ready only afterwards. */
  async settle(): Promise<void> {
    const { tasks, required } = this.#work;
    for (const task of tasks) await task.begin?.();
    for (const objects of required) {
      await this.#settleFirst(objects);
      this.#done.add(objects);
    }
  }

  /** Keeps everything in place until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { tasks, required } = this.#work;
    const endings: AbortController[] = [];
    // One signal each: many listeners on a single signal look like a leak.
    const own = (): AbortSignal => {
      const ending = new AbortController();
      endings.push(ending);
      return ending.signal;
    };
    const running = [
      ...required.map((objects) => this.#maintain(objects, own())),
      ...tasks.map((task) => this.#runPeriodicTask(task, own())),
    ];
    const end = (): void => {
      for (const ending of endings) ending.abort();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await Promise.all(running);
  }

  #runPeriodicTask(task: PeriodicTask, signal: AbortSignal): Promise<void> {
    const perform = async (): Promise<void> => {
      await task.perform();
      this.#done.add(task);
    };
    return runPeriodicTask({ ...task, perform }, this.#verbParts, signal);
  }

  async #settleFirst(required: RequiredObjects): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#ensure(required, "start");
        return;
      } catch (error) {
        // Another server may be creating the same objects.
        if (attempt === FIRST_TRIES || !isApiError(error)) throw error;
        await pause(this.#verbParts.loop, DEBOUNCE);
      }
    }
  }

  async #maintain(required: RequiredObjects, signal: AbortSignal): Promise<void> {
    const { loop, log } = this.#verbParts;
    const random = loop.random("upkeep");
    for (let failures = 0; !signal.aborted;) {
      try {
        // After the start, the objects are checked only after a change.
        await this.#change(
          required,
          this.#inPlaceAt.get(required) ?? (await this.#ensure(required, "later")),
          signal,
        );
        this.#inPlaceAt.delete(required);
        failures = 0;
        await pause(loop, DEBOUNCE, signal);
      } catch (error) {
        if (signal.aborted || isStoreError(error, "Closed")) return;
        log.warn("the server failed to put its required objects in place", { objects: required.name, error });
        await pause(loop, { ms: backoffMs(failures, BACKOFF, random), kind: "progress" }, signal);
        failures += 1;
      }
    }
  }

  /** Returns the revision at which everything is in place. It is read before the check, so that the watch covers changes during it. */
  async #ensure(required: RequiredObjects, phase: Phase): Promise<number> {
    const { revision } = this.#verbParts.store.view;
    await this.#correctAll(required, phase);
    this.#inPlaceAt.set(required, revision);
    return revision;
  }

  async #correctAll({ objects, obsolete }: RequiredObjects, phase: Phase): Promise<void> {
    const unmet = objects.filter((object) => !this.#isInPlace(object, phase));
    const created = await this.#createMany(unmet);
    const others = unmet.filter((object) => !created.has(object));
    await Promise.all(others.map((object) => this.#put(object, phase)));
    if (obsolete !== undefined) await this.#clear(obsolete);
  }

  /** Skips the write path: almost all objects are almost always in place. */
  #isInPlace(wanted: RequiredObject, phase: Phase): boolean {
    const live = this.#findLive(wanted);
    if (live === "unreadable") return true;
    if (live === undefined) return wanted.isOptional === true;
    if (phase === "later" && wanted.isOfOtherServer?.(live) === true) return true;
    if (wanted.mustBeRecreated?.(live) === true) return false;
    return correctionOf(wanted, live, "") === undefined && correctionOf(wanted, live, "status") === undefined;
  }

  /** Leaves an unreadable object as it is: a newer or older server may be able to read it. */
  #findLive(wanted: RequiredObject): ApiObject | "unreadable" | undefined {
    try {
      return this.#writer.find(wanted);
    } catch (error) {
      if (!(error instanceof UnreadableValue)) throw error;
      if (!this.#unreadable.has(wanted))
        this.#verbParts.log.warn("the server cannot read one of its required objects", {
          error: error.message,
        });
      this.#unreadable.add(wanted);
      return "unreadable";
    }
  }

  /** Creates the missing objects together, if they are many. Returns the created ones. */
  async #createMany(objects: readonly RequiredObject[]): Promise<ReadonlySet<RequiredObject>> {
    const missing = objects.filter((wanted) => wanted.isOptional !== true && !this.#writer.exists(wanted));
    if (missing.length < TOGETHER_MIN) return new Set();
    await this.#writer.createAll(missing);
    return new Set(missing);
  }

  async #put(wanted: RequiredObject, phase: Phase): Promise<void> {
    const live = this.#writer.find(wanted);
    if (live === undefined && wanted.isOptional === true) return;
    if (live === undefined) await this.#writer.create(wanted, completeManifest(wanted));
    else if (phase === "later" && wanted.isOfOtherServer?.(live) === true) return;
    else if (wanted.mustBeRecreated?.(live) === true) {
      await this.#writer.remove(wanted);
      await this.#writer.create(wanted, completeManifest(wanted));
    }
    await this.#correct(wanted, "");
    await this.#correct(wanted, "status");
  }

  async #correct(wanted: RequiredObject, subresource: "" | "status"): Promise<void> {
    const live = this.#writer.find(wanted);
    const corrected = live === undefined ? undefined : correctionOf(wanted, live, subresource);
    if (corrected !== undefined) await this.#writer.update(wanted, corrected, subresource);
  }

  async #clear(obsolete: ObsoleteObjects): Promise<void> {
    const { resource } = obsolete;
    const prefix = prefixOf(resource, "");
    for (const entry of this.#verbParts.store.accepted.range(prefix, prefixEnd(prefix))) {
      const { object } = StoredObject.of(entry);
      if (obsolete.isObsolete(object))
        await this.#writer.remove({ resource, namespace: "", name: object.metadata.name ?? "" });
    }
  }

  /** Resolves when one of the keys changes after the revision, or when the signal is aborted. */
  async #change(required: RequiredObjects, after: number, signal: AbortSignal): Promise<void> {
    const watches = watchedKeys(required).map((prefix) =>
      this.#verbParts.store.watch({ prefix, after, lane: "background" }),
    );
    const close = (): void => {
      for (const watch of watches) watch.close();
    };
    signal.addEventListener("abort", close, { once: true });
    try {
      if (signal.aborted) return;
      await Promise.race(watches.map(firstEvent));
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
  }
}

function watchedKeys({ objects, obsolete, source, watched }: RequiredObjects): readonly string[] {
  const sources = source === undefined ? [] : [source];
  if (watched !== undefined) return [...watched, ...sources];
  if (obsolete !== undefined) return [prefixOf(obsolete.resource, ""), ...sources];
  return [...objects.map(({ resource, namespace, name }) => keyOf(resource, namespace, name)), ...sources];
}

/** A failed watch is a reason to check again too. */
async function firstEvent(watch: Watch): Promise<void> {
  try {
    for await (const { events } of watch) if (events.length > 0) return;
  } catch (error) {
    if (!isStoreError(error, "Compacted") && !isStoreError(error, "SlowWatcher")) throw error;
  }
}
