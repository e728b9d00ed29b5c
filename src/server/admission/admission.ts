/**
 * Runs each write through its admission plugins: first mutating ones, later validating ones, each in list order.
 * Webhooks run last in both halves, because they are asynchronous. Quota follows as part of the write
 * (write/companions/quota.ts). After a conflict the whole pass runs again on the newest object.
 */
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { Loop, Random } from "../../base/loop/loop.ts";
import type { ApiObject, Draft, Requester } from "../../resources/rules/kind-rules.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Mark, Store } from "../../store/store.ts";
import { ObjectLister } from "../objects/lister.ts";
import type { AdmittedResource } from "../objects/registry.ts";
import type { Call } from "../request/call.ts";
import type { RequestNotes } from "../request/request-notes.ts";
import { withoutRepeatedOwners } from "../write/system-metadata.ts";
import { isDryRun } from "../write/write-options.ts";
import { chainOf } from "./chain.ts";
import type { Chain } from "./chain.ts";
import { operationOptions } from "./operation-options.ts";
import { BEFORE_POLICIES, REINVOKE } from "./plugin.ts";
import type { AdmissionPlugin, AdmissionRequest, KindOfRequest, Operation, ShownOwners } from "./plugin.ts";

/** A plugin that acts by stored objects, such as webhook configurations. It is idle without any. */
interface ConfiguredPlugin {
  readonly plugin: AdmissionPlugin;
  readonly prefix: string;
  mark: Mark | undefined;
  isIdle: boolean;
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
  readonly #configured: readonly ConfiguredPlugin[];
  readonly #store: Store;
  /** Dropped when a plugin gets its first configuration, or loses its last. */
  #chains = new WeakMap<object, Map<string, Chain | undefined>>();
  readonly #memory: ObjectLister;
  readonly #loop: Loop;
  readonly #random: Random;

  constructor(plugins: readonly AdmissionPlugin[], { store, loop }: { store: Store; loop: Loop }) {
    this.#plugins = plugins;
    this.#store = store;
    this.#configured = plugins.flatMap((plugin) => {
      const { configuredUnder: prefix } = plugin;
      return prefix === undefined ? [] : [{ plugin, prefix, mark: undefined, isIdle: true }];
    });
    this.#memory = new ObjectLister(store);
    this.#loop = loop;
    this.#random = loop.random("admission");
  }

  /** Whether a webhook or a policy must see a no-op write. Built-in plugins have judged the object before. */
  get seesNoOps(): boolean {
    this.#catchUp();
    return this.#configured.some(({ isIdle }) => !isIdle);
  }

  /** Whether a request of this kind may call a webhook. */
  mayCall(request: KindOfRequest): boolean {
    this.#catchUp();
    return this.#configured.some(({ plugin, isIdle }) => !isIdle && plugin.mayCall?.(request) === true);
  }

  /** Undefined if no plugin handles the request. */
  pass(subject: Subject): AdmissionPass | undefined {
    this.#catchUp();
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

  /** A change of a configuration applies to the next pass. */
  #catchUp(): void {
    const { acceptedNow, accepted } = this.#store;
    for (const each of this.#configured) {
      const mark = acceptedNow.mark(each.prefix);
      if (mark === each.mark) continue;
      each.mark = mark;
      const isIdle = accepted.count(each.prefix, prefixEnd(each.prefix)) === 0;
      if (isIdle === each.isIdle) continue;
      each.isIdle = isIdle;
      this.#chains = new WeakMap();
    }
  }

  #isIdle(plugin: AdmissionPlugin): boolean {
    return this.#configured.some((each) => each.plugin === plugin && each.isIdle);
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
    const active = this.#plugins.filter((plugin) => !this.#isIdle(plugin));
    const chain = chainOf(active, { resource, operation, subresource });
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
  async mutate(draft: Draft<ApiObject>, refine: Refine, previous?: ApiObject): Promise<Draft<ApiObject>> {
    if (previous !== undefined) this.#concern(previous, this.#request.name);
    else if (this.#chain.mutate.length > 0) this.#asked ??= outline(draft);
    this.#mutateNow(draft);
    if (previous !== undefined)
      this.#asked ??= this.#request.scratch.get(BEFORE_POLICIES) as ApiObject | undefined;
    const changed = this.#askMutating(draft);
    if (changed === undefined) return this.#ownedOnce(draft);
    this.#asked ??= outline(draft);
    return this.#ownedOnce(await this.#mutatedAgain(changed, { draft, refine }));
  }

  /** The sent object has no repeated owner references, but plugins may have added some. */
  #ownedOnce(draft: Draft<ApiObject>): Draft<ApiObject> {
    if ((draft.metadata?.ownerReferences?.length ?? 0) < 2) return draft;
    const { object, warnings } = withoutRepeatedOwners(draft, { isPatched: true });
    if (warnings.length === 0) return draft;
    this.#request.notes.warnAll(warnings);
    return object as Draft<ApiObject>;
  }

  async validate(object: ApiObject, previous?: ApiObject): Promise<void> {
    const { validate, validateLater } = this.#chain;
    if (validate.length + validateLater.length === 0) return;
    this.#concern(previous, object.metadata.name ?? this.#request.name);
    for (const plugin of validate) plugin.validate?.(object, this.#request);
    await this.#askValidating(object);
  }

  /** Sets the previous object and the name for the following plugins. */
  #concern(previous: ApiObject | undefined, name: string): void {
    const request = this.#request;
    if (previous !== request.previous || name !== request.name)
      this.#request = { ...request, previous, name };
  }

  /** Admission of a DELETE: plugins may refuse but not change. */
  async judge(previous: ApiObject): Promise<void> {
    this.#request = { ...this.#request, previous };
    await this.#askMutating(undefined);
    for (const plugin of this.#chain.validate) plugin.validate?.(previous, this.#request);
    await this.#askValidating(undefined);
  }

  /** Admission of an object that is sent to a subresource and never stored: only plugins change or judge it. */
  async admit<T extends ApiObject>(object: T, previous?: T): Promise<T> {
    const draft: ApiObject = object;
    const next = await this.mutate(
      draft as Draft<ApiObject>,
      (changed) => changed as Draft<ApiObject>,
      previous,
    );
    await this.validate(next, previous);
    const admitted: ApiObject = next;
    return admitted as T;
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

  #askValidating(object: ApiObject | undefined): Promise<void> | undefined {
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

interface AdmittedWrite {
  readonly call: Call<AdmittedResource>;
  readonly verbParts: { readonly admission: Pick<Admission, "pass"> };
}

/**
 * The admission pass of a call; undefined if no plugin handles it. `name` overrides the call's name, for example on
 * create.
 */
export function callPass(
  { call, verbParts }: AdmittedWrite,
  operation: Operation,
  name = call.info.name,
): AdmissionPass | undefined {
  const { resource, info, user, query, notes } = call;
  const { verb, namespace, subresource } = info;
  return verbParts.admission.pass({
    operation,
    verb,
    resource,
    subresource,
    namespace,
    name,
    user,
    notes,
    isDryRun: query.size > 0 && isDryRun(query.getAll("dryRun")),
    options: operation === "CONNECT" ? undefined : () => operationOptions(operation, query),
  });
}
