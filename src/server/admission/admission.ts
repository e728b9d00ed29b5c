/**
 * Takes each write through the plugins that it concerns, in the order in which they are listed: those that change the object before it is
 * prepared and validated, those that only judge after that. Quota comes after everything, as part of the write itself (quota/companion.ts).
 *
 * Those who have to ask others (webhooks) come after those who need not, in each half. When somebody else was faster meanwhile, the write's own
 * condition fails and the whole pass begins again on the newest object.
 */
import type { Writer } from "../../api/apply/writer.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { Loop, Random } from "../../base/loop/loop.ts";
import { type Soon, whenDone } from "../../base/loop/soon.ts";
import type { ApiObject, Draft, Requester } from "../../resources/rules/kind-rules.ts";
import type { Store } from "../../store/store.ts";
import { ServerMemory } from "../objects/lister.ts";
import type { AdmittedResource } from "../objects/registry.ts";
import type { RequestNotes } from "../request/request-notes.ts";
import { withoutRepeatedOwners } from "../write/owner-references.ts";
import { track } from "../write/tracking.ts";
import { BEFORE_POLICIES, REINVOKE } from "./plugin.ts";
import type { AdmissionPlugin, AdmissionRequest, Interest, Operation, ShownOwners } from "./plugin.ts";

/** The plugins that one kind of request concerns. */
interface Chain {
  readonly ready: readonly AdmissionPlugin[];
  readonly mutate: readonly AdmissionPlugin[];
  readonly mutateLater: readonly AdmissionPlugin[];
  readonly validate: readonly AdmissionPlugin[];
  readonly validateLater: readonly AdmissionPlugin[];
}

/** What a pass begins with. */
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
  readonly #memory: ServerMemory;
  readonly #loop: Loop;
  readonly #random: Random;

  constructor(plugins: readonly AdmissionPlugin[], { store, loop }: { store: Store; loop: Loop }) {
    this.#plugins = plugins;
    this.#listened = plugins.filter((plugin) => plugin.hasListeners !== undefined);
    this.#memory = new ServerMemory(store);
    this.#loop = loop;
    this.#random = loop.random("admission");
  }

  /** Whether somebody wants to see a write that changes nothing. Plugins of ours have seen the object before. */
  get hasListeners(): boolean {
    for (const plugin of this.#listened) if (plugin.hasListeners?.() === true) return true;
    return false;
  }

  /** Undefined when the request concerns no plugin. */
  pass(subject: Subject): AdmissionPass | undefined {
    const chain = this.#chainOf(subject);
    if (chain === undefined) return undefined;
    const { operation, verb, resource, subresource, namespace, name, user } = subject;
    const { isDryRun, options, notes } = subject;
    // Member by member: an object that is spread and then added to costs more than the rest of a pass.
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

/** What becomes of an object that somebody else has changed: normal form, and defaults for what is new. */
type Refine = (changed: ApiObject) => Draft<ApiObject>;

/** One request on its way. */
export class AdmissionPass implements ShownOwners {
  readonly #chain: Chain;
  #request: AdmissionRequest;
  #asked: ApiObject | undefined;
  #tracked: ((object: ApiObject) => ApiObject) | undefined;
  #writer: Writer | undefined;
  #sentManagedFields: unknown;

  constructor(chain: Chain, request: AdmissionRequest & { owners?: ShownOwners | undefined }) {
    this.#chain = chain;
    this.#request = request;
    request.owners = this;
  }

  /** The object as it was before plugins changed it: what they add belongs to nobody. */
  get asked(): ApiObject | undefined {
    return this.#asked;
  }

  /** How the object shows who owns its fields. Called only when somebody is asked. */
  showOwners(tracked: (object: ApiObject) => ApiObject): void {
    this.#tracked = tracked;
  }

  /** The same for an update: by whom it is, and what was sent of owners. */
  showWriter(writer: Writer, sentManagedFields: unknown): void {
    this.#writer = writer;
    this.#sentManagedFields = sentManagedFields;
  }

  get areTracked(): boolean {
    return this.#tracked !== undefined || this.#writer !== undefined;
  }

  shown(object: ApiObject): ApiObject {
    if (this.#tracked !== undefined) return this.#tracked(object);
    if (this.#writer === undefined) return object;
    const { previous } = this.#request;
    const [writer, sentManagedFields] = [this.#writer, this.#sentManagedFields];
    return track({ live: previous, next: object, asked: this.#asked, writer, sentManagedFields });
  }

  ready(object: ApiObject): Promise<void> | undefined {
    let waiting: Promise<unknown>[] | undefined;
    for (const plugin of this.#chain.ready) {
      const ready = plugin.ready?.(object, this.#request);
      if (ready !== undefined) (waiting ??= []).push(ready);
    }
    return waiting === undefined ? undefined : Promise.all(waiting).then(() => undefined);
  }

  /** The draft itself, changed in place, unless somebody who had to be asked made another one of it. */
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

  /** What was sent has each owner once; others may have added to it. */
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

  /** From now on the request is about these. */
  #concern(previous: ApiObject | undefined, name: string): void {
    const request = this.#request;
    if (previous !== request.previous || name !== request.name)
      this.#request = { ...request, previous, name };
  }

  /** Of a deletion: there is nothing to change, only something to refuse. */
  judge(previous: ApiObject): Soon<void> {
    this.#request = { ...this.#request, previous };
    const asked = this.#askMutating(undefined);
    return whenDone(asked ?? undefined, () => {
      for (const plugin of this.#chain.validate) plugin.validate?.(previous, this.#request);
      return this.#askValidating(undefined);
    });
  }

  /** What is sent to a subresource and never stored: nobody but plugins has a say in it. */
  admit<T extends ApiObject>(object: T, previous?: T): Soon<T> {
    const admitted = this.mutate(
      object as unknown as Draft<ApiObject>,
      (changed) => changed as Draft<ApiObject>,
      previous,
    );
    return whenDone(admitted, (next) => whenDone(this.validate(next, previous), () => next as unknown as T));
  }

  /** Once more when a policy has changed something: those before it see that too. */
  #mutateNow(draft: Draft<ApiObject>): void {
    const { scratch } = this.#request;
    for (const plugin of this.#chain.mutate) plugin.mutate?.(draft, this.#request);
    if (!scratch.delete(REINVOKE)) return;
    const again = { ...this.#request, isReinvocation: true };
    for (const plugin of this.#chain.mutate) plugin.mutate?.(draft, again);
    scratch.delete(REINVOKE);
  }

  /** At most one plugin asks others before an object is validated: the mutating webhooks, in their order. */
  #askMutating(draft: Draft<ApiObject> | undefined): Promise<ApiObject | undefined> | undefined {
    const [webhooks] = this.#chain.mutateLater;
    return webhooks?.mutateLater?.(draft, this.#request);
  }

  /** What was changed is seen by everybody once more, and not again after that. */
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

/** What a draft holds now: it gets copies of the parts whose members will be replaced. */
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
