/**
 * Indexes the stored webhooks by the requests that their rules match. A change of a configuration applies to the next
 * request. Results are cached between changes, so that a request without webhooks costs two comparisons.
 */
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Mark, Store } from "../../../store/store.ts";
import type { Registry, AdmittedResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import type { Operation } from "../plugin.ts";
import { equivalentsOf } from "./equivalents.ts";
import { hookOf } from "./hook.ts";
import type { Hook, HookType } from "./hook.ts";
import { ruleMatches } from "./rule-match.ts";

/** A webhook whose rules match a request, and the resource it is called with. */
export interface HookInvocation {
  readonly hook: Hook;
  /** The request's own resource, or an equivalent one that a rule names. */
  readonly resource: AdmittedResource;
}

interface Question {
  readonly resource: AdmittedResource;
  readonly subresource: string;
  readonly operation: Operation;
}

/** Cached matches of one resource. Another edition of a custom resource may have other versions. */
interface Known {
  readonly edition: string;
  readonly byRequest: Map<string, readonly HookInvocation[]>;
}

const NONE: readonly HookInvocation[] = [];

/** Webhooks and policies must not block the repair of admission itself. Upstream exempts the same kinds. */
const ADMISSION_GROUP = "admissionregistration.k8s.io";
const EXEMPT: ReadonlySet<string> = new Set([
  "MutatingWebhookConfiguration",
  "ValidatingWebhookConfiguration",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
]);

export class HookIndex {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #type: HookType;
  /** Key prefix of the configurations. */
  readonly prefix: string;
  #mark: Mark | undefined;
  #hooks: readonly Hook[] = [];
  /** Bounded by the number of served resources; dropped at each change of the configurations. */
  #known = new WeakMap<object, Known>();

  constructor(type: HookType, { store, registry }: { readonly store: Store; readonly registry: Registry }) {
    this.#type = type;
    this.#store = store;
    this.#registry = registry;
    this.prefix = `/registry/${type}webhookconfigurations/`;
  }

  /** In call order: by configuration name, then by position in the configuration. */
  concerning({ resource, subresource, operation }: Question): readonly HookInvocation[] {
    this.#catchUp();
    if (this.#hooks.length === 0) return NONE;
    const { facts, custom } = resource;
    const edition = custom?.edition ?? "";
    let known = this.#known.get(facts);
    if (known === undefined || known.edition !== edition) {
      known = { edition, byRequest: new Map() };
      this.#known.set(facts, known);
    }
    const key = subresource === "" ? operation : `${operation} ${subresource}`;
    let found = known.byRequest.get(key);
    if (found === undefined) {
      found = this.#find({ resource, subresource, operation });
      known.byRequest.set(key, found);
    }
    return found;
  }

  #find(question: Question): readonly HookInvocation[] {
    const { group, kind } = question.resource.facts;
    if (group === ADMISSION_GROUP && EXEMPT.has(kind)) return NONE;
    const found = this.#hooks.flatMap((hook) => invocationOf(hook, question, this.#registry) ?? []);
    return found.length === 0 ? NONE : found;
  }

  #catchUp(): void {
    const mark = this.#store.acceptedNow.mark(this.prefix);
    if (mark === this.#mark) return;
    this.#mark = mark;
    const hooks: Hook[] = [];
    for (const entry of this.#store.accepted.range(this.prefix, prefixEnd(this.prefix)))
      hooks.push(...compiled(StoredObject.of(entry).object as Configuration, this.#type));
    this.#hooks = hooks;
    this.#known = new WeakMap();
  }
}

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

const compiledBefore = new WeakMap<Configuration, readonly Hook[]>();

/** Compiles a configuration once, so that a change of another one does not compile it again. */
function compiled(configuration: Configuration, type: HookType): readonly Hook[] {
  const known = compiledBefore.get(configuration);
  if (known !== undefined) return known;
  const { name } = configuration.metadata;
  const hooks = (configuration.webhooks ?? []).map((webhook, index) =>
    hookOf(webhook, { type, configuration: name, index }),
  );
  compiledBefore.set(configuration, hooks);
  return hooks;
}

/** The request's own resource is tried first, then equivalents in the order of the rules. */
function invocationOf(hook: Hook, question: Question, registry: Registry): HookInvocation | undefined {
  const { resource, subresource } = question;
  if (hook.rules.some((rule) => ruleMatches(rule, askedAs(resource, question)))) return { hook, resource };
  if (!hook.matchesEquivalents) return undefined;
  const others = equivalentsOf(resource, subresource, registry);
  for (const rule of hook.rules) {
    const found = others.find((other) => ruleMatches(rule, askedAs(other, question)));
    if (found !== undefined) return { hook, resource: found };
  }
  return undefined;
}

function askedAs(
  { facts }: AdmittedResource,
  { operation, subresource }: Question,
): Parameters<typeof ruleMatches>[1] {
  const { group, version, name, namespaced } = facts;
  return { operation, group, version, resource: name, subresource, namespaced };
}
