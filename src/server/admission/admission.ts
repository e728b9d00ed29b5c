/**
 * Runs each write through its admission plugins: first mutating ones, later validating ones, each in list order.
 * Webhooks run last in both halves, because they are asynchronous. Quota follows as part of the write
 * (write/companions/quota.ts). After a conflict the whole pass runs again on the newest object.
 */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { Loop, Random } from "../../base/loop/loop.ts";
import { type Soon, whenDone } from "../../base/loop/soon.ts";
import type { ApiObject, Draft, Requester } from "../../resources/rules/kind-rules.ts";
import type { Store } from "../../store/store.ts";
import { ObjectLister } from "../objects/lister.ts";
import type { AdmittedResource } from "../objects/registry.ts";
import type { RequestNotes } from "../request/request-notes.ts";
import { withoutRepeatedOwners } from "../write/system-metadata.ts";
import { BEFORE_POLICIES, REINVOKE } from "./plugin.ts";
import type { AdmissionPlugin, AdmissionRequest, Interest, Operation, ShownOwners } from "./plugin.ts";

/** The plugins for one kind of request, by stage. */
interface Chain {
  readonly ready: readonly AdmissionPlugin[];
  readonly mutate: readonly AdmissionPlugin[];
  readonly mutateLater: readonly AdmissionPlugin[];
  readonly validate: readonly AdmissionPlugin[];
  readonly validateLater: readonly AdmissionPlugin[];
}

/** The request of a pass. */
interface Subject {
  readonly operation: Operation;
  readonly verb: string;
  readonly resource: AdmittedResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: Requester;
  readonly isDryRun: boolean;
  readonly options?: (() => JsonObject) | undefined;
  readonly notes: RequestNotes;
}

export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #listened: readonly AdmissionPlugin[];
  readonly #chains = new WeakMap<object, Map<string, Chain | undefined>>();
  readonly #memory: ObjectLister;
  readonly #loop: Loop;
  readonly #random: Random;

  constructor(plugins: readonly AdmissionPlugin[], { store, loop }: { store: Store; loop: Loop }) {
    this.#plugins = plugins;
    this.#listened = plugins.filter((plugin) => plugin.hasListeners !== undefined);
    this.#memory = new ObjectLister(store);
    this.#loop = loop;
    this.#random = loop.random("admission");
  }

  /** Whether a webhook must see a no-op write. Built-in plugins have judged the object before. */
  get hasListeners(): boolean {
    for (const plugin of this.#listened) if (plugin.hasListeners?.() === true) return true;
    return false;
  }

  /** Undefined if no plugin handles the request. */
  pass(subject: Subject): AdmissionPass | undefined {
    const chain = this.#chainOf(subject);
    if (chain === undefined) return undefined;
    const { operation, verb, resource, subresource, namespace, name, user } = subject;
    const { isDryRun, options, notes } = subject;
    // Listed member by member: spreading an object and adding members costs more than the rest of a pass.
    return new AdmissionPass(chain, {
      operation,
      verb,
      resource,
      subresource,
      namespace,
      name,
      user,
      isDryRun,
      options,
      notes,
      previous: undefined,
      owners: undefined,
      now: this.#loop.now(),
      memory: this.#memory,
      random: this.#random,
      isReinvocation: false,
      scratch: new Map(),
    });
  }

  #chainOf({ resource, operation, subresource }: Subject): Chain | undefined {
    const { facts } = resource;
    let known = this.#chains.get(facts);
    if (known === undefined) {
      known = new Map();
      this.#chains.set(facts, known);
    }
    const key = subresource === "" ? operation : `${operation} ${subresource}`;
    if (known.has(key)) return known.get(key);
    const chain = chainOf(
      this.#plugins.filter(({ interests }) =>
        interests.some((interest) => concerns(interest, { resource, operation, subresource })),
      ),
    );
    known.set(key, chain);
    return chain;
  }
}

/** Brings an object that a webhook changed to normal form and adds defaults for new members. */
type Refine = (changed: ApiObject) => Draft<ApiObject>;

/** Adds managedFields. `asked` is the object before admission: fields from plugins have no owner. */
export type WithOwners = (object: ApiObject, asked: ApiObject | undefined) => ApiObject;

/** Admission of one request. */
export class AdmissionPass implements ShownOwners {
  readonly #chain: Chain;
  #request: AdmissionRequest;
  #asked: ApiObject | undefined;
  #withOwners: WithOwners | undefined;

  constructor(chain: Chain, request: AdmissionRequest & { owners?: ShownOwners | undefined }) {
    this.#chain = chain;
    this.#request = request;
    request.owners = this;
  }

  /** The object before plugins changed it. Fields from plugins have no owner. */
  get asked(): ApiObject | undefined {
    return this.#asked;
  }

  /** Sets the function that adds managedFields to an object; called only if a webhook or policy needs them. */
  showOwners(withOwners: WithOwners): void {
    this.#withOwners = withOwners;
  }

  get areTracked(): boolean {
    return this.#withOwners !== undefined;
  }

  shown(object: ApiObject): ApiObject {
    return this.#withOwners?.(object, this.#asked) ?? object;
  }

  ready(object: ApiObject): Promise<void> | undefined {
    let waiting: Promise<unknown>[] | undefined;
    for (const plugin of this.#chain.ready) {
      const ready = plugin.ready?.(object, this.#request);
      if (ready !== undefined) (waiting ??= []).push(ready);
    }
    return waiting === undefined ? undefined : Promise.all(waiting).then(() => undefined);
  }

  /** Returns the draft, changed in place, or a new draft if a webhook changed the object. */
  mutate(draft: Draft<ApiObject>, refine: Refine, previous?: ApiObject): Soon<Draft<ApiObject>> {
    if (previous !== undefined) this.#concern(previous, this.#request.name);
    else if (this.#chain.mutate.length > 0) this.#asked ??= outline(draft);
    this.#mutateNow(draft);
    if (previous !== undefined)
      this.#asked ??= this.#request.scratch.get(BEFORE_POLICIES) as ApiObject | undefined;
    const changed = this.#askMutating(draft);
    if (changed === undefined) return this.#ownedOnce(draft);
    this.#asked ??= outline(draft);
    return this.#mutatedAgain(changed, { draft, refine }).then((next) => this.#ownedOnce(next));
  }

  /** The sent object has no repeated owner references, but plugins may have added some. */
  #ownedOnce(draft: Draft<ApiObject>): Draft<ApiObject> {
    if ((draft.metadata?.ownerReferences?.length ?? 0) < 2) return draft;
    const { object, warnings } = withoutRepeatedOwners(draft, { isPatched: true });
    if (warnings.length === 0) return draft;
    this.#request.notes.warnAll(warnings);
    return object as Draft<ApiObject>;
  }

  validate(object: ApiObject, previous?: ApiObject): Soon<void> {
    const { validate, validateLater } = this.#chain;
    if (validate.length + validateLater.length === 0) return undefined;
    this.#concern(previous, object.metadata.name ?? this.#request.name);
    for (const plugin of validate) plugin.validate?.(object, this.#request);
    return this.#askValidating(object);
  }

  /** Sets the previous object and the name for the following plugins. */
  #concern(previous: ApiObject | undefined, name: string): void {
    const request = this.#request;
    if (previous !== request.previous || name !== request.name)
      this.#request = { ...request, previous, name };
  }

  /** Admission of a DELETE: plugins may refuse but not change. */
  judge(previous: ApiObject): Soon<void> {
    this.#request = { ...this.#request, previous };
    const asked = this.#askMutating(undefined);
    return whenDone(asked ?? undefined, () => {
      for (const plugin of this.#chain.validate) plugin.validate?.(previous, this.#request);
      return this.#askValidating(undefined);
    });
  }

  /** Admission of an object that is sent to a subresource and never stored: only plugins change or judge it. */
  admit<T extends ApiObject>(object: T, previous?: T): Soon<T> {
    const admitted = this.mutate(
      object as Draft<ApiObject>,
      (changed) => changed as Draft<ApiObject>,
      previous,
    );
    return whenDone(admitted, (next) => whenDone(this.validate(next, previous), () => next as T));
  }

  /** Runs the plugins again after a policy changed the object, so that earlier plugins see the change. */
  #mutateNow(draft: Draft<ApiObject>): void {
    const { scratch } = this.#request;
    for (const plugin of this.#chain.mutate) plugin.mutate?.(draft, this.#request);
    if (!scratch.delete(REINVOKE)) return;
    const again = { ...this.#request, isReinvocation: true };
    for (const plugin of this.#chain.mutate) plugin.mutate?.(draft, again);
    scratch.delete(REINVOKE);
  }

  /** Only one plugin has `mutateLater`: the mutating webhooks, which run in sequence. */
  #askMutating(draft: Draft<ApiObject> | undefined): Promise<ApiObject | undefined> | undefined {
    const [webhooks] = this.#chain.mutateLater;
    return webhooks?.mutateLater?.(draft, this.#request);
  }

  /** After a change by a webhook, all plugins run once more, and only once. */
  async #mutatedAgain(
    changed: Promise<ApiObject | undefined>,
    { draft, refine }: { readonly draft: Draft<ApiObject>; readonly refine: Refine },
  ): Promise<Draft<ApiObject>> {
    const first = await changed;
    if (first === undefined) return draft;
    const again = refine(first);
    this.#request = { ...this.#request, isReinvocation: true };
    this.#mutateNow(again);
    const second = await this.#askMutating(again);
    return second === undefined ? again : refine(second);
  }

  #askValidating(object: ApiObject | undefined): Soon<void> {
    let waiting: Promise<void>[] | undefined;
    for (const plugin of this.#chain.validateLater) {
      const asked = plugin.validateLater?.(object, this.#request);
      if (asked !== undefined) (waiting ??= []).push(asked);
    }
    return waiting === undefined ? undefined : Promise.all(waiting).then(() => undefined);
  }
}

/** A snapshot of the draft. The draft gets copies of the parts whose members plugins replace. */
function outline(draft: Draft<ApiObject> & { spec?: unknown }): ApiObject {
  const held = { ...draft };
  if (isJsonObject(draft.metadata)) draft.metadata = { ...draft.metadata };
  if (isJsonObject(draft.spec)) draft.spec = { ...draft.spec };
  return held;
}

function chainOf(plugins: readonly AdmissionPlugin[]): Chain | undefined {
  if (plugins.length === 0) return undefined;
  return {
    ready: plugins.filter((plugin) => plugin.ready !== undefined),
    mutate: plugins.filter((plugin) => plugin.mutate !== undefined),
    mutateLater: plugins.filter((plugin) => plugin.mutateLater !== undefined),
    validate: plugins.filter((plugin) => plugin.validate !== undefined),
    validateLater: plugins.filter((plugin) => plugin.validateLater !== undefined),
  };
}

function concerns(
  { resources, operations }: Interest,
  { resource, operation, subresource }: Pick<Subject, "resource" | "operation" | "subresource">,
): boolean {
  if (!operations.includes(operation)) return false;
  const { name, group, namespaced } = resource.facts;
  if (resources === "all") return true;
  if (resources === "all in namespaces") return namespaced;
  const full = group === "" ? name : `${name}.${group}`;
  return resources.includes(subresource === "" ? full : `${full}/${subresource}`);
}
