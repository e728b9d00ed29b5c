/**
 * Indexes the policies of one type with their bindings. A write applies to the next request. Without bindings, a
 * request costs one comparison.
 */
import type {
  MatchResources,
  MutatingAdmissionPolicySpec,
  ParamRef,
  ValidatingAdmissionPolicySpec,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Mark, Store } from "../../../store/store.ts";
import { prefixEnd } from "../../../store/store.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { type Match, matchOf } from "./match.ts";

export interface PolicyObject extends ApiObject {
  readonly spec: ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec;
}

export interface BindingObject extends ApiObject {
  readonly spec: {
    readonly policyName?: string;
    readonly paramRef?: ParamRef;
    readonly matchResources?: MatchResources;
  };
}

export interface Binding<B> {
  readonly name: string;
  readonly object: B;
  readonly match: Match;
}

export interface BoundPolicy<P, B> {
  readonly name: string;
  readonly object: P;
  readonly match: Match;
  /** In order of their names. */
  readonly bindings: readonly Binding<B>[];
}

interface Prefixes {
  readonly policies: string;
  readonly bindings: string;
}

export class PolicyIndex<P extends PolicyObject, B extends BindingObject> {
  readonly #store: Store;
  readonly #prefixes: Prefixes;
  #bindingsMark: Mark | undefined;
  #policiesMark: Mark | undefined;
  /** Keyed by the name of the policy. */
  #bindings: ReadonlyMap<string, readonly Binding<B>[]> = new Map();
  #bound: readonly BoundPolicy<P, B>[] = [];

  /** `prefixes` are those of the keys of policies and bindings. */
  constructor(store: Store, prefixes: Prefixes) {
    this.#store = store;
    this.#prefixes = prefixes;
  }

  /** A policy without a binding has no effect. */
  get bindingsPrefix(): string {
    return this.#prefixes.bindings;
  }

  /** Policies with at least one binding, in order of their names. */
  get bound(): readonly BoundPolicy<P, B>[] {
    const { acceptedNow } = this.#store;
    const bindings = acceptedNow.mark(this.#prefixes.bindings);
    if (bindings !== this.#bindingsMark) {
      this.#bindingsMark = bindings;
      this.#bindings = this.#readBindings();
      this.#policiesMark = undefined;
    }
    if (this.#bindings.size === 0) return [];
    const policies = acceptedNow.mark(this.#prefixes.policies);
    if (policies !== this.#policiesMark) {
      this.#policiesMark = policies;
      this.#bound = this.#readPolicies();
    }
    return this.#bound;
  }

  #readBindings(): ReadonlyMap<string, readonly Binding<B>[]> {
    const bindings = new Map<string, Binding<B>[]>();
    for (const object of this.#list<B>(this.#prefixes.bindings)) {
      const { policyName = "" } = object.spec;
      const known = bindings.get(policyName);
      const binding = bindingOf(object);
      if (known === undefined) bindings.set(policyName, [binding]);
      else known.push(binding);
    }
    return bindings;
  }

  #readPolicies(): readonly BoundPolicy<P, B>[] {
    const bound: BoundPolicy<P, B>[] = [];
    for (const object of this.#list<P>(this.#prefixes.policies)) {
      const name = object.metadata.name ?? "";
      const own = this.#bindings.get(name);
      if (own !== undefined)
        bound.push({ name, object, match: matchOf(object.spec.matchConstraints), bindings: own });
    }
    return bound;
  }

  *#list<T extends ApiObject>(prefix: string): Iterable<T> {
    for (const entry of this.#store.accepted.range(prefix, prefixEnd(prefix)))
      yield StoredObject.of(entry).object as T;
  }
}

function bindingOf<B extends BindingObject>(object: B): Binding<B> {
  return { name: object.metadata.name ?? "", object, match: matchOf(object.spec.matchResources) };
}
