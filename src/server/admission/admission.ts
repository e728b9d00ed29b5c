/**
 * Takes each write through the plugins that it concerns, in the order in which they are listed: those that change the object before it is
 * prepared and validated, those that only judge after that. Quota comes after everything, as part of the write itself (quota/companion.ts).
 *
 * A stage that asks others (webhooks) fits in front of the writer: it is awaited in `ready`, and when somebody else was faster meanwhile the
 * write's own condition fails and the whole pass begins again on the newest object.
 */
import type { Loop } from "../../base/loop.ts";
import type { ApiObject, Draft, Requester } from "../../resources/kind-rules.ts";
import type { Store } from "../../store/store.ts";
import type { StoredResource } from "../registry.ts";
import type { RequestNotes } from "../request-notes.ts";
import type { AdmissionPlugin, AdmissionRequest, Interest, Operation } from "./plugin.ts";
import { ServerMemory } from "./server-memory.ts";

/** The plugins that one kind of request concerns. */
interface Chain {
  readonly ready: readonly AdmissionPlugin[];
  readonly mutate: readonly AdmissionPlugin[];
  readonly validate: readonly AdmissionPlugin[];
}

/** What a pass begins with. */
interface Subject {
  readonly operation: Operation;
  readonly resource: StoredResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: Requester;
  readonly isDryRun: boolean;
  readonly notes: RequestNotes;
}

export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #chains = new WeakMap<object, Map<string, Chain | undefined>>();
  readonly #memory: ServerMemory;
  readonly #loop: Loop;

  constructor(plugins: readonly AdmissionPlugin[], { store, loop }: { store: Store; loop: Loop }) {
    this.#plugins = plugins;
    this.#memory = new ServerMemory(store);
    this.#loop = loop;
  }

  /** Undefined when the request concerns no plugin. */
  pass(subject: Subject): AdmissionPass | undefined {
    const chain = this.#chainOf(subject);
    if (chain === undefined) return undefined;
    const now = this.#loop.now();
    const random = this.#loop.random("admission");
    return new AdmissionPass(chain, {
      ...subject,
      previous: undefined,
      now,
      memory: this.#memory,
      random,
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

/** One request on its way. */
export class AdmissionPass {
  readonly #chain: Chain;
  #request: AdmissionRequest;
  #asked: ApiObject | undefined;

  constructor(chain: Chain, request: AdmissionRequest) {
    this.#chain = chain;
    this.#request = request;
  }

  /** The new object as it was before plugins changed it: what they add belongs to nobody. */
  get asked(): ApiObject | undefined {
    return this.#asked;
  }

  ready(object: ApiObject): Promise<void> | undefined {
    const waiting = this.#chain.ready.flatMap((plugin) => plugin.ready?.(object, this.#request) ?? []);
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined);
  }

  mutate(draft: Draft<ApiObject>, previous?: ApiObject): void {
    if (this.#chain.mutate.length === 0) return;
    if (previous === undefined) this.#asked ??= outline(draft);
    else this.#request = { ...this.#request, previous };
    for (const plugin of this.#chain.mutate) plugin.mutate?.(draft, this.#request);
  }

  validate(object: ApiObject, previous?: ApiObject): void {
    if (this.#chain.validate.length === 0) return;
    const request = { ...this.#request, previous, name: object.metadata.name ?? this.#request.name };
    for (const plugin of this.#chain.validate) plugin.validate?.(object, request);
  }
}

/** What a draft holds now, however its members are replaced later. */
function outline(draft: Draft<ApiObject>): ApiObject {
  const { metadata, spec } = draft as Draft<ApiObject> & { spec?: object };
  return { ...draft, metadata: { ...metadata }, ...(spec !== undefined && { spec: { ...spec } }) };
}

function chainOf(plugins: readonly AdmissionPlugin[]): Chain | undefined {
  if (plugins.length === 0) return undefined;
  return {
    ready: plugins.filter((plugin) => plugin.ready !== undefined),
    mutate: plugins.filter((plugin) => plugin.mutate !== undefined),
    validate: plugins.filter((plugin) => plugin.validate !== undefined),
  };
}

function concerns(
  { resources, operations }: Interest,
  { resource, operation, subresource }: Pick<Subject, "resource" | "operation" | "subresource">,
): boolean {
  if (!operations.includes(operation)) return false;
  const { name, group, namespaced } = resource.facts;
  if (resources === "all in namespaces") return namespaced && subresource === "";
  const full = group === "" ? name : `${name}.${group}`;
  return resources.includes(subresource === "" ? full : `${full}/${subresource}`);
}
