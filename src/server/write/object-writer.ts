/** Writes finished objects to the store. After a conflict with another writer it retries with the newest object. */
import {
  alreadyExists,
  conflict,
  isApiError,
  notFound,
  requestEntityTooLarge,
} from "../../api/errors/api-error.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Change, Committed, Entry, Store, Transaction } from "../../store/store.ts";
import { encodeObject } from "../objects/object-encoder.ts";
import type { Encoded } from "../objects/object-encoder.ts";
import { groupResource } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import { findKept, StoredObject, withResourceVersion } from "../objects/stored-object.ts";
import { keyOf } from "../objects/versions.ts";
import type { Versions } from "../objects/versions.ts";
import type { RequestCounts, WriteLabels } from "../request/request-counts.ts";
import { NOTHING_BESIDE, planBeside } from "./companions/companion.ts";
import type { Companion, CompanionPlan, ObjectChange } from "./companions/companion.ts";
import { isFinished } from "./deletion.ts";
import type { Journal } from "./journal.ts";
import { KeyTurns } from "./key-turns.ts";
import type { WriteOrigin } from "./write-call.ts";
import { purposeOfCreation, purposeOfUpdate } from "./write-purpose.ts";
import type { WritePurpose } from "./write-purpose.ts";

/** etcd's limit on a request, which a kube-apiserver over the same etcd would meet. */
const OBJECT_BYTES_MAX = 1.5 * 1024 * 1024;
/** kube-apiserver's limit of conflicts, after which the client decides. */
const TRIES_MAX = 5;
/**
 * Limit of conflicts on shared companions (port allocation, quotas), which the client does not see. With ten busy
 * servers, one attempt in ten succeeds.
 */
const COMPANION_TRIES_MAX = 200;

export interface WriterParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly versions: Versions;
  /** Asked in order about each write. */
  readonly companions: readonly Companion[];
  readonly journal: Journal;
  readonly tally: Pick<RequestCounts, "wrote">;
}

export interface Place {
  readonly resource: StoredResource;
  readonly namespace: string;
  readonly name: string;
}

/** Result of a change to the newest object. */
export type WriteDecision =
  | { readonly outcome: "put"; readonly object: ApiObject }
  /** The object is stored although it could be removed at once; its removal follows in a second write. */
  | { readonly outcome: "put first"; readonly object: ApiObject }
  | { readonly outcome: "remove" }
  | { readonly outcome: "unchanged" };

export type Saved =
  /** The entry as the store has it. */
  | { readonly outcome: "stored"; readonly stored: StoredObject }
  /** The object as a dry run would store it, or as it was last. */
  | { readonly outcome: "shown"; readonly object: ApiObject }
  | { readonly outcome: "removed"; readonly object: ApiObject };

export interface SaveOptions {
  readonly isDryRun: boolean;
  /** After a conflict: `fail` if the client named a resourceVersion, otherwise `retry`. */
  readonly onConflict: "fail" | "retry";
  /** Whether the change may call a webhook. Other updates of the object do not wait for it. Default: no. */
  readonly mayWait?: (() => boolean) | undefined;
}

/** Computes the change of the newest object. */
type ChangeOf = (previous: ApiObject) => WriteDecision | Promise<WriteDecision>;

/** One for each store: all writers of a server share the turns. */
const turnsOf = new WeakMap<Store, KeyTurns>();

function turnsAt(store: Store): KeyTurns {
  const known = turnsOf.get(store) ?? new KeyTurns();
  turnsOf.set(store, known);
  return known;
}

export class ObjectWriter {
  readonly #store: Store;
  readonly #turns: KeyTurns;
  readonly #versions: Versions;
  readonly #parts: WriterParts;
  readonly #origin: WriteOrigin;
  /** Entry that `change` was called with and has not accepted yet. */
  #refused: Entry | undefined;

  constructor(parts: WriterParts, origin: WriteOrigin) {
    this.#origin = origin;
    this.#store = parts.store;
    this.#turns = turnsAt(parts.store);
    this.#versions = parts.versions;
    this.#parts = parts;
  }

  create(place: Place, object: ApiObject, options: Pick<SaveOptions, "isDryRun">): Promise<Saved> {
    return this.#decided(() => this.#create(place, object, options));
  }

  /** `change` may be called several times, each time with the newest object. */
  update(place: Place, options: SaveOptions, change: ChangeOf): Promise<Saved> {
    return this.#decided(() => this.#update(place, options, change));
  }

  /** Deletes the entry without its companions. */
  async removeEntry({ key, modRevision }: Entry, resource: StoredResource): Promise<void> {
    await this.#write("delete", resource, {
      compare: [{ key, modRevision }],
      changes: [{ type: "delete", key }],
    });
  }

  /**
   * A refused writer reads next. The refusal is sent only once the conflicting write is visible and durable. If that
   * write was lost, or another server acknowledged a newer state, the attempt runs again.
   */
  async #decided(attempt: () => Promise<Saved>): Promise<Saved> {
    for (let failures = 0; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        if (!isApiError(error) || failures >= TRIES_MAX) throw error;
        const isFinal = this.#store.isShared ? this.#isKnown(failures) : this.#store.settling();
        if (isFinal === undefined || (await isFinal)) throw error;
      }
    }
  }

  /**
   * With several servers: whether the refusal holds for every write acknowledged before it. The second refusal always
   * does.
   */
  async #isKnown(failures: number): Promise<boolean> {
    if (failures > 0) return true;
    const refused = this.#refused;
    this.#refused = undefined;
    const newest = await this.#store.fresh();
    return refused !== undefined && newest.get(refused.key)?.modRevision === refused.modRevision;
  }

  async #create(
    place: Place,
    object: ApiObject,
    { isDryRun }: Pick<SaveOptions, "isDryRun">,
  ): Promise<Saved> {
    const { resource, namespace, name } = place;
    const key = keyOf(resource, namespace, name);
    const storing = this.#versions.readyToStore(object, resource);
    if (storing !== undefined) await storing;
    for (let failures = 0; ;) {
      for (let wait = this.#store.turn(key); wait !== undefined; wait = this.#store.turn(key)) await wait;
      const there = this.#store.acceptedNow.get(key);
      if (there !== undefined) throw taken(there, place);
      const plan = this.#plan(resource, { previous: undefined, next: object });
      const next = plan.object ?? object;
      if (isDryRun) return { outcome: "shown", object: this.#versions.asRead(next, resource) };
      const busy = this.#busy(plan);
      if (busy !== undefined) {
        await busy;
        continue;
      }
      try {
        const purpose = purposeOfCreation(resource, this.#origin.writer);
        const target = { key, resource, modRevision: 0, purpose };
        return await this.#put(target, this.#encode(next, resource), plan);
      } catch (error) {
        if (!isStoreError(error, "ConditionFailed")) throw error;
        if (plan.compare.length === 0) throw alreadyExists(groupResource(resource), name);
        failures += 1;
        if (failures === COMPANION_TRIES_MAX) throw conflict(groupResource(resource), name);
      }
    }
  }

  async #update(place: Place, options: SaveOptions, change: ChangeOf): Promise<Saved> {
    const { resource, name } = place;
    for (let failures = 0, companionFailures = 0; ;) {
      const outcome = await this.#attempt(place, options, change);
      if (outcome === "again") continue;
      if (outcome !== "overtaken" && outcome !== "companion overtaken") return outcome;
      const isOvertaken = outcome === "overtaken";
      if (isOvertaken) failures += 1;
      else companionFailures += 1;
      const isEnough = failures === TRIES_MAX || companionFailures === COMPANION_TRIES_MAX;
      if (isEnough || (isOvertaken && options.onConflict === "fail"))
        throw conflict(groupResource(resource), name);
    }
  }

  /** Holds the turn of the key until the write is handed in, unless the change may wait for a webhook. */
  async #attempt(place: Place, options: SaveOptions, change: ChangeOf): Promise<Outcome> {
    const { resource, namespace, name } = place;
    const key = keyOf(resource, namespace, name);
    const isSlow = resource.custom?.webhook !== undefined || options.mayWait?.() === true;
    const waiting = isSlow ? undefined : this.#turns.take(key);
    if (waiting !== undefined) await waiting;
    let handedIn: HandedIn;
    try {
      handedIn = this.#handIn(await this.#revision(place, change), options.isDryRun);
    } finally {
      if (!isSlow) this.#turns.release(key);
    }
    try {
      return await handedIn.outcome;
    } catch (error) {
      if (!isStoreError(error, "ConditionFailed")) throw error;
      return this.#isNewest(handedIn.entry) ? "companion overtaken" : "overtaken";
    }
  }

  /** The newest entry, and what the change makes of it. */
  async #revision({ resource, namespace, name }: Place, change: ChangeOf): Promise<Revised> {
    const key = keyOf(resource, namespace, name);
    for (let wait = this.#store.turn(key); wait !== undefined; wait = this.#store.turn(key)) await wait;
    const entry = this.#store.acceptedNow.get(key);
    if (entry === undefined) throw notFound(groupResource(resource), name);
    const showing = this.#versions.readyToShow([StoredObject.of(entry)], resource);
    if (showing !== undefined) await showing;
    this.#origin.pace.weighBytes(entry.value.length);
    const previous = this.#versions.entry(entry, resource);
    this.#refused = entry;
    const next = await change(previous);
    this.#refused = undefined;
    const storing = this.#readyToStore(next, resource);
    if (storing !== undefined) await storing;
    return { resource, entry, previous, next };
  }

  /**
   * Checks that the entry is still the newest one, plans the companions and hands the transaction to the store, in one
   * step. The function must stay synchronous: an await in it would let another write in between, and companions would
   * be planned on a state that is gone.
   */
  #handIn(revised: Revised, isDryRun: boolean): HandedIn {
    const { entry } = revised;
    if (!this.#isNewest(entry)) return { entry, outcome: "overtaken" };
    const step = this.#decide(revised);
    const busy = isDryRun ? undefined : this.#busy(step.plan);
    if (busy !== undefined) return { entry, outcome: busy.then(() => "again" as const) };
    return { entry, outcome: this.#carryOut(step, entry, isDryRun) };
  }

  #isNewest({ key, modRevision }: Entry): boolean {
    return this.#store.acceptedNow.get(key)?.modRevision === modRevision;
  }

  #readyToStore(next: WriteDecision, resource: StoredResource): Promise<void> | undefined {
    return "object" in next ? this.#versions.readyToStore(next.object, resource) : undefined;
  }

  /** The write that the change amounts to, with its companions. */
  #decide({ resource, entry, previous, next: wanted }: Revised): Decision {
    const stored = StoredObject.of(entry);
    // An entry encrypted with an older key is rewritten by every write to it, even by one without a change.
    const isStale = wanted.outcome === "unchanged" && stored.isStale;
    const next: WriteDecision = isStale ? { outcome: "put", object: previous } : wanted;
    if (next.outcome === "unchanged") return { outcome: "unchanged", plan: NOTHING_BESIDE };
    const isKept = next.outcome === "put first";
    if (next.outcome === "remove" || (!isKept && isFinished(next.object, resource))) {
      const last = next.outcome === "remove" ? previous : next.object;
      return { outcome: "remove", last, resource, plan: this.#plan(resource, { previous, next: undefined }) };
    }
    const plan = this.#plan(resource, { previous, next: next.object });
    const object = plan.object ?? next.object;
    const encoded = this.#encode(object, resource);
    const isSame = stored.isWrittenAs(encoded) && plan.changes.length === 0;
    if (isSame) return { outcome: "unchanged", plan: NOTHING_BESIDE };
    const purpose = purposeOfUpdate({ previous, next: object }, resource, this.#origin.writer);
    return { outcome: "put", object, encoded, resource, plan, purpose };
  }

  #carryOut(step: Decision, entry: Entry, isDryRun: boolean): HandedIn["outcome"] {
    switch (step.outcome) {
      case "unchanged":
        return this.#unchanged(entry);
      case "remove":
        return this.#remove(entry, step, isDryRun);
      case "put": {
        const { object, encoded, resource, plan, purpose } = step;
        if (isDryRun)
          return { outcome: "shown", object: withResourceVersion(object, String(entry.modRevision)) };
        const { key, modRevision } = entry;
        return this.#put({ key, resource, modRevision, purpose }, encoded, plan);
      }
    }
  }

  async #put(target: Target, encoded: Encoded, plan: CompanionPlan): Promise<Saved> {
    const { key, resource, modRevision, purpose } = target;
    const own = { key, modRevision };
    const change: Change = { type: "put", key, value: encoded.bytes, slot: encoded, ttlMs: ttlOf(resource) };
    const operation = modRevision === 0 ? "create" : "update";
    const { entries } = await this.#write(operation, resource, {
      compare: plan.compare.length === 0 ? [own] : [own, ...plan.compare],
      changes: plan.changes.length === 0 ? [change] : [change, ...plan.changes],
      purpose,
    });
    return storedOf(entries[0]);
  }

  /**
   * An accepted entry is returned only once it is durable. With several servers, a no-op must also be checked against
   * the newest acknowledged entry.
   */
  async #unchanged(entry: Entry): Promise<Saved | "again" | "overtaken"> {
    if (this.#store.isShared) {
      const newest = (await this.#store.fresh()).get(entry.key);
      return newest?.modRevision === entry.modRevision ? storedOf(entry) : "overtaken";
    }
    const settling = entry.modRevision > this.#store.view.revision ? this.#store.settling() : undefined;
    return settling === undefined || (await settling) ? storedOf(entry) : "again";
  }

  async #remove(entry: Entry, { last, resource, plan }: Removal, isDryRun: boolean): Promise<Saved> {
    if (isDryRun) return { outcome: "removed", object: last };
    const { revision } = await this.#write("delete", resource, {
      compare: [{ key: entry.key, modRevision: entry.modRevision }, ...plan.compare],
      changes: [{ type: "delete", key: entry.key }, ...plan.changes],
    });
    return { outcome: "removed", object: withResourceVersion(last, String(revision)) };
  }

  async #write(
    operation: WriteLabels["operation"],
    resource: StoredResource,
    transaction: Transaction,
  ): Promise<Committed> {
    const { tally, loop } = this.#parts;
    const labels = labelsOf(operation, resource);
    const startedAt = loop.elapsed();
    try {
      const committed = await this.#store.write(transaction);
      tally.wrote("ok", loop.elapsed() - startedAt, labels);
      this.#record(transaction, committed, resource);
      return committed;
    } catch (error) {
      tally.wrote(isStoreError(error) ? error.code : "broken", loop.elapsed() - startedAt, labels);
      throw error;
    }
  }

  #record({ changes }: Transaction, { revision }: Committed, { rules }: StoredResource): void {
    const { journal, loop } = this.#parts;
    const { user, manager, userAgent, command, auditId, cause } = this.#origin.author;
    const keys = changes.map(({ key }) => key);
    const isFrequent = rules.isRecord === true || rules.isHeartbeat === true;
    const entry = { user, manager, userAgent, command, auditId, cause, revision, keys, at: loop.now() };
    journal.record(entry, isFrequent ? "frequent" : "ordinary");
  }

  #plan(resource: StoredResource, change: ObjectChange): CompanionPlan {
    return planBeside(this.#parts.companions, change, resource);
  }

  /** The end of a write in flight that changes a key the plan depends on. */
  #busy({ compare }: CompanionPlan): Promise<void> | undefined {
    for (const { key } of compare) {
      const wait = this.#store.turn(key);
      if (wait !== undefined) return wait;
    }
    return undefined;
  }

  #encode(object: ApiObject, resource: StoredResource): Encoded {
    const encoded = encodeObject(this.#versions.stored(object, resource));
    if (encoded.bytes.length <= OBJECT_BYTES_MAX) return encoded;
    throw requestEntityTooLarge(`limit is ${String(OBJECT_BYTES_MAX)}`);
  }
}

/** An entry and the change to make to it. */
interface Revised {
  readonly resource: StoredResource;
  readonly entry: Entry;
  readonly previous: ApiObject;
  readonly next: WriteDecision;
}

/** `overtaken`: another write changed the object. `companion overtaken`: another write changed a companion. */
type Outcome = Saved | "again" | "overtaken" | "companion overtaken";

/** A write that the store has, and its outcome. */
interface HandedIn {
  readonly entry: Entry;
  readonly outcome: Outcome | Promise<Outcome>;
}

interface Removal {
  readonly resource: StoredResource;
  readonly outcome: "remove";
  readonly last: ApiObject;
  readonly plan: CompanionPlan;
}

type Decision =
  | { readonly outcome: "unchanged"; readonly plan: CompanionPlan }
  | Removal
  | {
      readonly outcome: "put";
      readonly object: ApiObject;
      readonly encoded: Encoded;
      readonly resource: StoredResource;
      readonly plan: CompanionPlan;
      readonly purpose: WritePurpose;
    };

/** Key and condition of a put. */
interface Target {
  readonly key: string;
  readonly resource: StoredResource;
  readonly modRevision: number;
  readonly purpose: WritePurpose;
}

function ttlOf({ rules: { ttlSeconds } }: StoredResource): number | undefined {
  return ttlSeconds === undefined ? undefined : ttlSeconds * 1000;
}

function storedOf(entry: Entry | undefined): Saved {
  if (entry === undefined) throw new Error("the store returned no entry for a put");
  return { outcome: "stored", stored: StoredObject.of(entry) };
}

/** The message says whether the name is about to become free. */
function taken(there: Entry, { resource, name }: Place): Error {
  const isDeleted = findKept(there)?.metadata.deletionTimestamp !== undefined;
  const state = isDeleted ? "being deleted" : "kept";
  return alreadyExists(groupResource(resource), name, state);
}

type LabelSets = Readonly<Record<WriteLabels["operation"], WriteLabels>>;

/** One label object for each operation and resource, so that the metrics can look up their counters by identity. */
const labelSets = new WeakMap<StoredResource, LabelSets>();

function labelsOf(operation: WriteLabels["operation"], resource: StoredResource): WriteLabels {
  const known = labelSets.get(resource);
  if (known !== undefined) return known[operation];
  const { group, name } = resource.facts;
  const of = (each: WriteLabels["operation"]): WriteLabels => ({ operation: each, group, resource: name });
  const made = { create: of("create"), update: of("update"), delete: of("delete") };
  labelSets.set(resource, made);
  return made[operation];
}
