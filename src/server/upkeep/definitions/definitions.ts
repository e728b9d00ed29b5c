/**
 * Controller of custom resource definitions. It accepts names and establishes kinds once a definition is durable. It registers an
 * APIService for each served version, and removes a deleted definition after its objects. Every server runs this controller; a write
 * by one is a no-op for the others.
 */
import { isApiError } from "../../../api/errors/api-error.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from "../../../api/generated/types/apiextensions-v1.ts";
import { groupVersions } from "../../../api/schema/resource-facts.ts";
import type { ResourceFacts } from "../../../api/schema/resource-facts.ts";
import { timeText } from "../../../api/values/time.ts";
import type { Log } from "../../../base/log/log.ts";
import { backoffMs } from "../../../base/loop/backoff.ts";
import { pause } from "../../../base/loop/pause.ts";
import { isStoreError } from "../../../store/store-error.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Watch } from "../../../store/store.ts";
import { DEFINITIONS } from "../../custom/custom-kinds.ts";
import type { CustomKinds } from "../../custom/custom-kinds.ts";
import { findOutline } from "../../custom/custom-outline.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { UnreadableValue } from "../../objects/unreadable.ts";
import type { WriteParts } from "../../verbs/writing.ts";
import { ServerWriter } from "../server-writer.ts";
import { CustomApiServices } from "./definition-api-services.ts";
import { InstanceRemoval } from "./instance-removal.ts";
import { plannedStatus, takenNames } from "./name-plan.ts";
import type { TakenNames } from "./name-plan.ts";
import { WorkSet } from "./work-set.ts";

interface DefinitionParts extends WriteParts {
  readonly log: Log;
  readonly registry: Registry;
}

/** This many checks take about a millisecond. Then the loop runs other work. */
const WORK_PER_TURN = 10;
const BACKOFF = { baseMs: 100, maxMs: 30_000 };

function builtInNames({ name, singular, shortNames, kind }: ResourceFacts): CustomResourceDefinitionNames {
  return { plural: name, singular, shortNames, kind, listKind: `${kind}List` };
}

interface Wait {
  readonly watch: Watch;
  /** Resolves when the watch has ended. */
  readonly ended: Promise<void>;
}

/** Item of work: a definition, or all APIServices of a group. */
type Work = `definition ${string}` | `group ${string}`;

export class CustomDefinitions {
  readonly #verbParts: DefinitionParts;
  readonly #kinds: CustomKinds;
  readonly #writer: ServerWriter;
  readonly #resource: StoredResource;
  readonly #services: CustomApiServices;
  readonly #removal: InstanceRemoval;
  readonly #work = new WorkSet<Work>();
  /** Definitions that wait for the finalizers of their objects. */
  readonly #waits = new Map<string, Wait>();
  #isFollowing = false;

  constructor(verbParts: DefinitionParts, kinds: CustomKinds) {
    this.#verbParts = verbParts;
    this.#kinds = kinds;
    this.#writer = new ServerWriter(verbParts);
    this.#resource = requireStored(verbParts.registry, "apiextensions.k8s.io", "customresourcedefinitions");
    this.#services = new CustomApiServices(verbParts);
    this.#removal = new InstanceRemoval(verbParts);
  }

  /** Whether all existing definitions have been read and changes are watched. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => {
      this.#work.close();
      for (const { watch } of this.#waits.values()) watch.close();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (signal.aborted) return;
      const running = [
        this.#follow(DEFINITIONS, signal, (key) => this.#noteDefinition(key.slice(DEFINITIONS.length))),
        this.#follow(this.#services.prefix, signal, (key) => this.#noteService(key)),
        this.#settleAll(signal),
      ];
      // The first reads happen synchronously when following begins.
      this.#isFollowing = true;
      await Promise.all(running);
    } finally {
      signal.removeEventListener("abort", onAbort);
      onAbort();
      await Promise.all([...this.#waits.values()].map(({ ended }) => ended));
    }
  }

  /** Calls `note` for every key under the prefix, then for each change. Ends with the signal or the store. */
  async #follow(prefix: string, signal: AbortSignal, note: (key: string) => void): Promise<void> {
    const { store, loop } = this.#verbParts;
    const random = loop.random("custom-definitions");
    for (let failures = 0; !signal.aborted; failures++) {
      const { view } = store;
      for (const { key } of view.range(prefix, prefixEnd(prefix))) note(key);
      try {
        await this.#watch({ prefix, after: view.revision }, signal, note);
      } catch (error) {
        if (isStoreError(error, "Closed")) return this.#work.close();
        if (!isStoreError(error)) throw error;
        await pause(loop, { ms: backoffMs(failures, BACKOFF, random), kind: "progress" }, signal);
      }
    }
  }

  async #watch(
    range: { readonly prefix: string; readonly after: number },
    signal: AbortSignal,
    note: (key: string) => void,
  ): Promise<void> {
    const watch = this.#verbParts.store.watch({ ...range, lane: "loop" });
    const close = (): void => watch.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      if (signal.aborted) return;
      for await (const { events } of watch) for (const { key } of events) note(key);
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
  }

  /** Renews the kind at once, so that watches of a removed kind end now and not at the next request for it. */
  #noteDefinition(name: string): void {
    this.#kinds.renew(name);
    this.#work.add(`definition ${name}`);
  }

  #noteService(key: string): void {
    const group = this.#services.groupOf(key);
    if (group !== undefined) this.#work.add(`group ${group}`);
  }

  async #settleAll(signal: AbortSignal): Promise<void> {
    const { loop, log } = this.#verbParts;
    const random = loop.random("custom-definitions");
    const failures = new Map<Work, number>();
    let count = 0;
    for (let work = await this.#work.next(); work !== undefined; work = await this.#work.next()) {
      count += 1;
      if (count % WORK_PER_TURN === 0) await new Promise<void>((resolve) => loop.post("loop", resolve));
      try {
        await this.#settle(work);
        failures.delete(work);
      } catch (error) {
        if (signal.aborted || isStoreError(error, "Closed")) return;
        if (error instanceof UnreadableValue) {
          // The next value of the key is checked when it arrives.
          log.warn("a custom resource definition cannot be read", { error: error.message });
          continue;
        }
        const count = failures.get(work) ?? 0;
        failures.set(work, count + 1);
        // Another server was faster, and the watch will deliver its change.
        const isOvertaken = isApiError(error, "Conflict") || isApiError(error, "AlreadyExists");
        if (!isOvertaken)
          log.warn("the server failed to reconcile a custom resource definition", { work, error });
        const again = work;
        loop.timer(loop.now() + backoffMs(count, BACKOFF, random), "progress", () => this.#work.add(again));
      }
    }
  }

  #settle(work: Work): Promise<void> {
    const [type = "", name = ""] = work.split(" ");
    return type === "group" ? this.#services.keep(name) : this.#settleDefinition(name);
  }

  async #settleDefinition(name: string): Promise<void> {
    const group = name.slice(name.indexOf(".") + 1);
    this.#work.add(`group ${group}`);
    const entry = this.#verbParts.store.accepted.get(DEFINITIONS + name);
    const outline = entry === undefined ? undefined : findOutline(entry);
    // At every start most definitions are settled. These need no decoding.
    if (outline?.isSettled === true && !outline.isDeleted) return;
    const definition = this.#find(name);
    if (definition === undefined) {
      // Its names are free now.
      this.#endWait(name);
      this.#noteGroup(group);
    } else if (definition.metadata.deletionTimestamp !== undefined) await this.#clear(name, definition);
    else await this.#establish(name, definition);
  }

  #find(name: string): CustomResourceDefinition | undefined {
    const place = { resource: this.#resource, namespace: "", name };
    return this.#writer.find(place) as CustomResourceDefinition | undefined;
  }

  async #establish(name: string, definition: CustomResourceDefinition): Promise<void> {
    const { loop } = this.#verbParts;
    const status = plannedStatus(definition, this.#taken(name, definition), timeText(loop.now()));
    if (status === definition.status) return;
    const place = { resource: this.#resource, namespace: "", name };
    await this.#writer.update(place, { ...definition, status }, "status");
    this.#noteGroup(definition.spec.group);
  }

  /** Names of the other definitions in the group, and those of the published API, even if it is not served. */
  #taken(name: string, { spec }: CustomResourceDefinition): TakenNames {
    const { accepted } = this.#verbParts.store;
    const names = groupVersions()
      .filter(({ group }) => group === spec.group)
      .flatMap(({ resources }) => resources.map(builtInNames));
    for (const entry of accepted.range(DEFINITIONS, prefixEnd(DEFINITIONS))) {
      if (!entry.key.endsWith(`.${spec.group}`) || entry.key === DEFINITIONS + name) continue;
      const outline = findOutline(entry);
      if (outline?.group === spec.group) names.push(outline.acceptedNames);
    }
    return takenNames(names);
  }

  /** Definitions with refused names may get them now. */
  #noteGroup(group: string): void {
    const { accepted } = this.#verbParts.store;
    for (const entry of accepted.range(DEFINITIONS, prefixEnd(DEFINITIONS))) {
      const isRefused = entry.key.endsWith(`.${group}`) && findOutline(entry)?.hasAllNames === false;
      if (isRefused) this.#work.add(`definition ${entry.key.slice(DEFINITIONS.length)}`);
    }
  }

  async #clear(name: string, definition: CustomResourceDefinition): Promise<void> {
    const outcome = await this.#removal.remove(definition, {
      place: { resource: this.#resource, namespace: "", name },
      instances: this.#kinds.kind(name)?.findStored(),
    });
    if (outcome === "more") this.#work.add(`definition ${name}`);
    if (outcome === "waiting") this.#wait(name, definition);
    else this.#endWait(name);
  }

  /** Checks the definition again when the remaining objects change. */
  #wait(name: string, { spec }: CustomResourceDefinition): void {
    if (this.#waits.has(name)) return;
    const { store } = this.#verbParts;
    const prefix = `/registry/${spec.group}/${spec.names.plural}/`;
    const watch = store.watch({ prefix, after: store.view.revision, lane: "background" });
    this.#waits.set(name, { watch, ended: this.#noteChanges(name, watch) });
    // Covers changes before the watch began.
    this.#work.add(`definition ${name}`);
  }

  async #noteChanges(name: string, watch: Watch): Promise<void> {
    try {
      for await (const { events } of watch) if (events.length > 0) this.#work.add(`definition ${name}`);
    } catch (error) {
      if (!isStoreError(error)) throw error;
      this.#endWait(name);
      this.#work.add(`definition ${name}`);
    }
  }

  #endWait(name: string): void {
    this.#waits.get(name)?.watch.close();
    this.#waits.delete(name);
  }
}
