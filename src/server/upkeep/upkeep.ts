/**
 * The server keeps its own house: what clients and foreign controllers expect of a server alone is there before the first
 * request, and comes back when it is deleted or changed. Everything goes through the same verbs as clients' writes. A
 * house in order is left alone: a second start writes nothing.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import { pause } from "../../base/loop/pause.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { isStoreError } from "../../store/store-error.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Watch } from "../../store/store.ts";
import { StoredObject } from "../objects/stored-object.ts";
import { UnreadableValue } from "../objects/unreadable.ts";
import { keyOf, prefixOf } from "../objects/versions.ts";
import type { Workshop } from "../verbs/verb.ts";
import type { BootStep } from "./boot-steps.ts";
import type { Routine } from "./periodic-task.ts";
import type { Chore, KeptObject, Strays } from "./required-objects.ts";
import { runRoutine } from "./run-periodic-task.ts";
import { HouseWriter } from "./server-writer.ts";

/** Changes come in groups: one look for all of them. */
const DEBOUNCE = { ms: 100, kind: "progress" } as const;
const BACKOFF = { baseMs: 200, maxMs: 30_000 };
/** Fewer than these go the usual way. */
const BORN_MIN = 16;
/** How often the first tidying is tried before the server gives up starting. */
const FIRST_TRIES = 5;

/** At the start a server claims what servers share. */
type Phase = "start" | "later";

type Subresource = "" | "status";

export interface Duties {
  /** In this order at the start: later ones rely on earlier ones. */
  readonly chores: readonly Chore[];
  readonly routines: readonly Routine[];
}

export class Upkeep {
  readonly #workshop: Workshop;
  readonly #duties: Duties;
  readonly #writer: HouseWriter;
  /** As of which revision what a chore keeps was in place. */
  readonly #inPlaceAt = new Map<Chore, number>();
  /** Objects of which the log tells already that they cannot be read. */
  readonly #unreadable = new WeakSet<KeptObject>();
  /** What was done at least once. */
  readonly #done = new Set<Chore | Routine>();

  constructor(workshop: Workshop, duties: Duties) {
    this.#workshop = workshop;
    this.#duties = duties;
    this.#writer = new HouseWriter(workshop);
  }

  /** Whether all that is part of the step was done at least once since the start. A step that nothing is part of is never done. */
  isDone(step: BootStep): boolean {
    const { chores, routines } = this.#duties;
    const parts = [...chores, ...routines].filter(({ boot }) => boot?.includes(step) === true);
    return parts.length > 0 && parts.every((duty) => this.#done.has(duty));
  }

  /** Puts everything in place; rejects when that does not succeed. The server is ready after this, not before. */
  async settle(): Promise<void> {
    const { routines, chores } = this.#duties;
    for (const routine of routines) await routine.begin?.();
    for (const chore of chores) {
      await this.#settleFirst(chore);
      this.#done.add(chore);
    }
  }

  /** Keeps everything in place until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { routines, chores } = this.#duties;
    const endings: AbortController[] = [];
    // One each: many listeners on one signal look like a leak.
    const own = (): AbortSignal => {
      const ending = new AbortController();
      endings.push(ending);
      return ending.signal;
    };
    const running = [
      ...chores.map((chore) => this.#keep(chore, own())),
      ...routines.map((routine) => this.#runRoutine(routine, own())),
    ];
    const end = (): void => {
      for (const ending of endings) ending.abort();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await Promise.all(running);
  }

  #runRoutine(routine: Routine, signal: AbortSignal): Promise<void> {
    const perform = async (): Promise<void> => {
      await routine.perform();
      this.#done.add(routine);
    };
    return runRoutine({ ...routine, perform }, this.#workshop, signal);
  }

  async #settleFirst(chore: Chore): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#look(chore, "start");
        return;
      } catch (error) {
        // Another server may be putting the same things in place.
        if (attempt === FIRST_TRIES || !isApiError(error)) throw error;
        await pause(this.#workshop.loop, DEBOUNCE);
      }
    }
  }

  async #keep(chore: Chore, signal: AbortSignal): Promise<void> {
    const { loop, log } = this.#workshop;
    const random = loop.random("upkeep");
    for (let failures = 0; !signal.aborted;) {
      try {
        // After the start nothing is looked at again before it changes.
        await this.#change(chore, this.#inPlaceAt.get(chore) ?? (await this.#look(chore, "later")), signal);
        this.#inPlaceAt.delete(chore);
        failures = 0;
        await pause(loop, DEBOUNCE, signal);
      } catch (error) {
        if (signal.aborted || isStoreError(error, "Closed")) return;
        log.warn("the server could not put its own objects in place", { chore: chore.name, error });
        await pause(loop, { ms: backoffMs(failures, BACKOFF, random), kind: "progress" }, signal);
        failures += 1;
      }
    }
  }

  /** Answers the revision as of which all is in place. It is taken before the look: a change during it is seen by the watch. */
  async #look(chore: Chore, phase: Phase): Promise<number> {
    const { revision } = this.#workshop.store.view;
    await this.#tidy(chore, phase);
    this.#inPlaceAt.set(chore, revision);
    return revision;
  }

  async #tidy({ objects, strays }: Chore, phase: Phase): Promise<void> {
    const astray = objects.filter((object) => !this.#isInPlace(object, phase));
    const born = await this.#bear(astray);
    const others = astray.filter((object) => !born.has(object));
    await Promise.all(others.map((object) => this.#put(object, phase)));
    if (strays !== undefined) await this.#clear(strays);
  }

  /** Almost all are, almost always. */
  #isInPlace(kept: KeptObject, phase: Phase): boolean {
    const live = this.#findLive(kept);
    if (live === "unreadable") return true;
    if (live === undefined) return kept.isGuest === true;
    if (phase === "later" && kept.isOthers?.(live) === true) return true;
    if (kept.isReplaced?.(live) === true) return false;
    return correctionOf(kept, live, "") === undefined && correctionOf(kept, live, "status") === undefined;
  }

  /** An object whose stored value cannot be read is left as it is: a newer or older server may know how to read it. */
  #findLive(kept: KeptObject): ApiObject | "unreadable" | undefined {
    try {
      return this.#writer.find(kept);
    } catch (error) {
      if (!(error instanceof UnreadableValue)) throw error;
      if (!this.#unreadable.has(kept))
        this.#workshop.log.warn("the server cannot keep an object of its own", { error: error.message });
      this.#unreadable.add(kept);
      return "unreadable";
    }
  }

  /** Many that are missing are created together, in as few transactions as can be. Answers which. */
  async #bear(objects: readonly KeptObject[]): Promise<ReadonlySet<KeptObject>> {
    const missing = objects.filter((kept) => kept.born !== undefined && !this.#writer.exists(kept));
    if (missing.length < BORN_MIN) return new Set();
    await this.#writer.createAll(missing);
    return new Set(missing);
  }

  async #put(kept: KeptObject, phase: Phase): Promise<void> {
    const live = this.#writer.find(kept);
    if (live === undefined && kept.isGuest === true) return;
    if (live === undefined) await this.#create(kept);
    else if (phase === "later" && kept.isOthers?.(live) === true) return;
    else if (kept.isReplaced?.(live) === true) {
      await this.#writer.remove(kept);
      await this.#create(kept);
    }
    await this.#correct(kept, "");
    await this.#correct(kept, "status");
  }

  async #create(kept: KeptObject): Promise<void> {
    const { resource, namespace, name } = kept;
    const manifest = kept.manifest();
    const metadata = { name, ...(namespace !== "" && { namespace }), ...(manifest.metadata as JsonObject) };
    const { apiVersion, facts } = resource;
    await this.#writer.create(kept, { apiVersion, kind: facts.kind, ...manifest, metadata });
  }

  async #correct(kept: KeptObject, subresource: Subresource): Promise<void> {
    const live = this.#writer.find(kept);
    const wanted = live === undefined ? undefined : correctionOf(kept, live, subresource);
    if (wanted !== undefined) await this.#writer.update(kept, wanted, subresource);
  }

  async #clear(strays: Strays): Promise<void> {
    const { resource } = strays;
    const prefix = prefixOf(resource, "");
    for (const entry of this.#workshop.store.accepted.range(prefix, prefixEnd(prefix))) {
      const { object } = StoredObject.of(entry);
      if (strays.isStray(object))
        await this.#writer.remove({ resource, namespace: "", name: object.metadata.name ?? "" });
    }
  }

  /** Resolves when something that the chore keeps has changed after the revision, or the signal is aborted. */
  async #change(chore: Chore, after: number, signal: AbortSignal): Promise<void> {
    const watches = watchedKeys(chore).map((prefix) =>
      this.#workshop.store.watch({ prefix, after, lane: "background" }),
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

/** What the object must become; `undefined` when it is so. What is on its way out is put back once it is gone. */
function correctionOf(kept: KeptObject, live: ApiObject, subresource: Subresource): JsonObject | undefined {
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const wanted = subresource === "" ? kept.corrected?.(live) : kept.correctedStatus?.(live);
  return wanted === undefined || jsonEqual(wanted, live) ? undefined : wanted;
}

function watchedKeys({ objects, strays, source, watched }: Chore): readonly string[] {
  const sources = source === undefined ? [] : [source];
  if (watched !== undefined) return [...watched, ...sources];
  if (strays !== undefined) return [prefixOf(strays.resource, ""), ...sources];
  return [...objects.map(({ resource, namespace, name }) => keyOf(resource, namespace, name)), ...sources];
}

/** A watch that can't go on is a reason to look again too. */
async function firstEvent(watch: Watch): Promise<void> {
  try {
    for await (const { events } of watch) if (events.length > 0) return;
  } catch (error) {
    if (!isStoreError(error, "Compacted") && !isStoreError(error, "SlowWatcher")) throw error;
  }
}
