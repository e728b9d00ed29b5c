/** Selects the policies and parameters for a request; shared by validating and mutating policies. */
import { Effort } from "../../../api/cel/allowance.ts";
import type { Bindings } from "../../../api/cel/program.ts";
import type { ParamKind } from "../../../api/generated/types/admissionregistration-v1.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { AdmittedResource, StoredResource } from "../../objects/registry.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { namespaceOf } from "../webhook/review.ts";
import { findMatch, type Subject } from "./match.ts";
import { collectParams, ConfigurationError, paramResource } from "./params.ts";
import type { ParamParts } from "./params.ts";
import type { Binding, BindingObject, BoundPolicy, PolicyObject } from "./policy-index.ts";
import type { ValueParts } from "./request-values.ts";

export type PolicyParts = ParamParts & ValueParts;

/** A policy to evaluate, once for each parameter object. */
export interface PolicyInvocation<P, B> {
  readonly policy: BoundPolicy<P, B>;
  readonly binding: Binding<B>;
  readonly params: ApiObject | undefined;
  /** The resource in whose version the policy sees the request. */
  readonly resource: AdmittedResource;
}

/** An invalid policy or binding. */
export interface Misconfiguration<P, B> {
  readonly policy: BoundPolicy<P, B>;
  readonly binding: Binding<B> | undefined;
  readonly message: string;
}

export interface Dispatch<P, B> {
  readonly invocations: readonly PolicyInvocation<P, B>[];
  readonly mistakes: readonly Misconfiguration<P, B>[];
}

/** Policies must not block the repair of admission itself. */
const ADMISSION_GROUP = "admissionregistration.k8s.io";

/** Policies on token and access reviews could lock out all users. Webhooks see these reviews, policies do not. */
const REVIEW_GROUPS: ReadonlySet<string> = new Set(["authentication.k8s.io", "authorization.k8s.io"]);

export function isExempt({ facts, storage }: AdmittedResource): boolean {
  return facts.group === ADMISSION_GROUP || (storage === undefined && REVIEW_GROUPS.has(facts.group));
}

export function dispatch<P extends PolicyObject, B extends BindingObject>(
  policies: readonly BoundPolicy<P, B>[],
  subject: Subject,
  parts: PolicyParts & {
    /** Called before a policy is evaluated in the version of this resource; may throw a ConfigurationError. */
    readonly prepare: (resource: AdmittedResource) => void;
  },
): Dispatch<P, B> {
  const invocations: PolicyInvocation<P, B>[] = [];
  const mistakes: Misconfiguration<P, B>[] = [];
  const namespace = namespaceOf(subject.request, subject.request.name);
  for (const policy of policies) {
    const resource = findMatch(policy.match, subject, parts.registry);
    if (resource === undefined) continue;
    const note = (binding: Binding<B> | undefined, step: () => void): void => {
      const message = mistakeOf(step);
      if (message !== undefined) mistakes.push({ policy, binding, message });
    };
    note(undefined, () => {
      const params = paramsOf(policy.object.spec.paramKind, parts);
      parts.prepare(resource);
      for (const binding of policy.bindings) {
        if (findMatch(binding.match, subject, parts.registry) === undefined) continue;
        note(binding, () => {
          const asked = { paramRef: binding.object.spec.paramRef, namespace };
          for (const it of collectParams(params, asked, parts))
            invocations.push({ policy, binding, params: it, resource });
        });
      }
    });
  }
  return { invocations, mistakes };
}

function paramsOf(kind: ParamKind | undefined, { registry }: PolicyParts): StoredResource | undefined {
  return kind === undefined ? undefined : paramResource(kind, registry);
}

function mistakeOf(step: () => void): string | undefined {
  try {
    step();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
}

/** Evaluation budget that all policies of one request share. */
export function effortOf({ scratch }: AdmissionRequest): Effort {
  const known = scratch.get("policies");
  if (known instanceof Effort) return known;
  const effort = new Effort();
  scratch.set("policies", effort);
  return effort;
}

/** Caches the bindings by resource, because most policies see a request as the same resource. */
export class PerResource {
  readonly #make: (resource: AdmittedResource) => Bindings;
  readonly #made = new Map<AdmittedResource, Bindings>();

  constructor(make: (resource: AdmittedResource) => Bindings) {
    this.#make = make;
  }

  of(resource: AdmittedResource): Bindings {
    const known = this.#made.get(resource);
    if (known !== undefined) return known;
    const made = this.#make(resource);
    this.#made.set(resource, made);
    return made;
  }
}
