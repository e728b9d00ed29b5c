/** ValidatingAdmissionPolicy: refuses writes, deletes and connections that violate the expressions of policies. */
import { ApiError } from "../../../api/errors/api-error.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import type { AdmittedResource } from "../../objects/registry.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { refusal } from "../refusal.ts";
import { AuditAnnotations, noteFailure } from "./audit-annotations.ts";
import { compiledValidation, type Decision, judge } from "./decision.ts";
import {
  dispatch,
  effortOf,
  type PolicyInvocation,
  isExempt,
  type Misconfiguration,
  PerResource,
} from "./dispatch.ts";
import type { PolicyParts } from "./dispatch.ts";
import { Evaluation } from "./evaluation.ts";
import { PolicyIndex } from "./policy-index.ts";
import { policyBindings, subjectAs } from "./request-values.ts";
import { mentionsOwners, withOwners } from "./shown-owners.ts";

type Policy = ValidatingAdmissionPolicy;
type Binding = ValidatingAdmissionPolicyBinding;

/** Reason for a refusal. */
interface Denial extends Misconfiguration<Policy, Binding> {
  readonly reason: Decision["reason"];
}

export function validatingPolicies(parts: PolicyParts): AdmissionPlugin {
  const index = new PolicyIndex<Policy, Binding>(parts.store, {
    policies: "/registry/validatingadmissionpolicies/",
    bindings: "/registry/validatingadmissionpolicybindings/",
  });
  return {
    name: "ValidatingAdmissionPolicy",
    interests: [{ resources: "all", operations: ["CREATE", "UPDATE", "DELETE", "CONNECT"] }],

    configuredUnder: index.bindingsPrefix,

    validate(object, request) {
      const { bound } = index;
      if (bound.length === 0 || isExempt(request.resource)) return;
      const shown = bound.some((policy) => mentionsOwners(policy.object))
        ? withOwners(object, request)
        : object;
      const isDeletion = request.operation === "DELETE";
      const subject = { request, object: isDeletion ? undefined : shown, oldObject: request.previous };
      const bindings = new PerResource((resource) =>
        policyBindings(subjectAs(subject, resource, parts.versions), resource, parts),
      );
      const prepare = (resource: AdmittedResource): unknown => bindings.of(resource);
      const { invocations, mistakes } = dispatch(bound, subject, { ...parts, prepare });
      const denials = [...mistakesThatDeny(mistakes), ...judged(invocations, request, bindings)];
      const first = denials.toSorted((left, right) => order(bound, left) - order(bound, right))[0];
      if (first !== undefined) throw denied(first, request);
    },
  };
}

/** Denials are ordered by the names of their policies. */
function order(bound: readonly object[], { policy }: Denial): number {
  return bound.indexOf(policy);
}

function mistakesThatDeny(mistakes: readonly Misconfiguration<Policy, Binding>[]): readonly Denial[] {
  return mistakes
    .filter(({ policy }) => policy.object.spec.failurePolicy !== "Ignore")
    .map((mistake) => {
      const what = mistake.binding === undefined ? "policy" : "binding";
      return { ...mistake, message: `failed to configure ${what}: ${mistake.message}`, reason: "Invalid" };
    });
}

function judged(
  invocations: readonly PolicyInvocation<Policy, Binding>[],
  request: AdmissionRequest,
  bindings: PerResource,
): readonly Denial[] {
  if (invocations.length === 0) return [];
  const effort = effortOf(request);
  const annotations = new AuditAnnotations();
  const denials: Denial[] = [];
  for (const invocation of invocations) {
    const compiled = compiledValidation(invocation.policy.object);
    const { resource, params } = invocation;
    const evaluation = new Evaluation({
      commons: compiled,
      bindings: bindings.of(resource),
      params,
      effort,
      kind: resource.facts.kind,
    });
    const { decisions, annotated, failures } = judge(compiled, evaluation);
    annotations.add(invocation.policy.name, annotated);
    denials.push(...failures.map((decision) => denialOf(invocation, decision)));
    for (const decision of decisions) denials.push(...act(decision, invocation, request));
  }
  annotations.publish(request.notes);
  return denials;
}

function denialOf(
  { policy, binding }: PolicyInvocation<Policy, Binding>,
  { message, reason }: Decision,
): Denial {
  return { policy, binding, message, reason };
}

/** Applies the binding's actions to a failed validation. */
function act(
  decision: Decision,
  invocation: PolicyInvocation<Policy, Binding>,
  { notes }: AdmissionRequest,
): readonly Denial[] {
  const { policy, binding } = invocation;
  const { validationActions: actions = [] } = binding.object.spec;
  if (actions.includes("Audit"))
    noteFailure(decision, { policy: policy.name, binding: binding.name, actions }, notes);
  if (actions.includes("Warn"))
    notes.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${decision.message}`,
    );
  return actions.includes("Deny") ? [denialOf(invocation, decision)] : [];
}

/** `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: …`, with the policy's reason. */
function denied({ policy, binding, message, reason }: Denial, request: AdmissionRequest): ApiError {
  const bound = binding === undefined ? "" : ` with binding '${binding.name}'`;
  const text = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${message}`;
  const { message: whole, details = {} } = refusal(request, text);
  return new ApiError(reason, whole, { details: { ...details, causes: [{ message: text }] } });
}
