/** MutatingAdmissionPolicy: changes objects before they are stored, by the expressions of policies. */
import { ApiError, type ApiErrorReason } from "../../../api/errors/api-error.ts";
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import type { AdmittedResource } from "../../objects/registry.ts";
import { type AdmissionPlugin, type AdmissionRequest, BEFORE_POLICIES } from "../plugin.ts";
import { refusal } from "../refusal.ts";
import { MutationError } from "./apply-configuration.ts";
import { dispatch, isExempt, type PolicyInvocation, type Misconfiguration } from "./dispatch.ts";
import type { PolicyParts } from "./dispatch.ts";
import { ExpressionError } from "./evaluation.ts";
import { isSelected, type Mutating, mutated } from "./mutation.ts";
import { ConfigurationError } from "./params.ts";
import { PolicyIndex } from "./policy-index.ts";
import { ReinvocationState } from "./reinvocation-state.ts";
import { subjectAs } from "./request-values.ts";

type Policy = MutatingAdmissionPolicy;
type Binding = MutatingAdmissionPolicyBinding;

interface Failure extends Misconfiguration<Policy, Binding> {
  readonly reason: ApiErrorReason;
}

const NAME = "MutatingAdmissionPolicy";

export function mutatingPolicies(parts: PolicyParts): AdmissionPlugin {
  const index = new PolicyIndex<Policy, Binding>(parts.store, {
    policies: "/registry/mutatingadmissionpolicies/",
    bindings: "/registry/mutatingadmissionpolicybindings/",
  });
  return {
    name: NAME,
    interests: [{ resources: "all", operations: ["CREATE", "UPDATE", "CONNECT"] }],

    configuredUnder: index.bindingsPrefix,

    mutate(draft, request) {
      const { bound } = index;
      if (bound.length === 0 || isExempt(request.resource)) return;
      const subject = { request, object: draft, oldObject: request.previous };
      const prepare = (resource: AdmittedResource): unknown => subjectAs(subject, resource, parts.versions);
      const { invocations, mistakes } = dispatch(bound, subject, { ...parts, prepare });
      if (invocations.length + mistakes.length === 0) return;
      const failures = mistakes.map((mistake) => configurationFailure(mistake));
      const { object, failures: others } = new Round(request, parts).run(draft, invocations);
      refuseFor([...failures, ...others], request);
      if (object === draft) return;
      const { previous, scratch } = request;
      if (previous !== undefined && !scratch.has(BEFORE_POLICIES)) scratch.set(BEFORE_POLICIES, { ...draft });
      replaceMembers(draft, object);
    },
  };
}

/** Runs policies in sequence, each on the result of the previous ones. */
class Round {
  readonly #request: AdmissionRequest;
  readonly #parts: PolicyParts;
  readonly #state: ReinvocationState;
  readonly #failures: Failure[] = [];
  #hasMutated = false;

  constructor(request: AdmissionRequest, parts: PolicyParts) {
    this.#request = request;
    this.#parts = parts;
    this.#state = ReinvocationState.of(request, NAME);
  }

  run(
    draft: ApiObject,
    invocations: readonly PolicyInvocation<Policy, Binding>[],
  ): { readonly object: ApiObject; readonly failures: readonly Failure[] } {
    let object = draft;
    this.#state.begin(object);
    for (const invocation of invocations) object = this.#invoke(invocation, object);
    if (this.#hasMutated) this.#state.finished();
    this.#state.end(object);
    return { object, failures: this.#failures };
  }

  #invoke(invocation: PolicyInvocation<Policy, Binding>, before: ApiObject): ApiObject {
    const { policy, binding, params } = invocation;
    const key = `${policy.name}/${binding.name}/${params?.metadata.namespace ?? ""}/${params?.metadata.name ?? ""}`;
    const mutating = { ...invocation, request: this.#request, parts: this.#parts };
    const isWanted = this.#attempt(invocation, () => this.#isWanted(mutating, before, key)) ?? false;
    if (!isWanted) return before;
    let object = before;
    for (const at of (policy.object.spec.mutations ?? []).keys())
      object = this.#attempt(invocation, () => this.#mutated(object, at, mutating)) ?? object;
    if (!jsonEqual(object, before)) this.#state.changed();
    if (policy.object.spec.reinvocationPolicy === "IfNeeded") this.#state.mayReinvoke(key);
    return object;
  }

  #mutated(object: ApiObject, at: number, mutating: Mutating): ApiObject {
    const result = mutated(object, at, mutating);
    this.#hasMutated = true;
    return result;
  }

  #isWanted(mutating: Mutating, object: ApiObject, key: string): boolean {
    return isSelected(object, mutating) && this.#state.isDue(key);
  }

  #attempt<T>({ policy, binding }: PolicyInvocation<Policy, Binding>, step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      const isOurs =
        error instanceof ExpressionError ||
        error instanceof MutationError ||
        error instanceof ConfigurationError;
      if (!isOurs) throw error;
      this.#failures.push({ policy, binding, message: error.message, reason: "Invalid" });
      return undefined;
    }
  }
}

function configurationFailure(mistake: Misconfiguration<Policy, Binding>): Failure {
  const what = mistake.binding === undefined ? "policy" : "binding";
  return { ...mistake, message: `failed to configure ${what}: ${mistake.message}`, reason: "Forbidden" };
}

/** The first failure determines the error; all failures are listed as causes. */
function refuseFor(failures: readonly Failure[], request: AdmissionRequest): void {
  const counted = failures.filter(({ policy }) => policy.object.spec.failurePolicy !== "Ignore");
  const [first] = counted;
  if (first === undefined) return;
  const { details = {} } = refusal(request, "");
  const causes = counted.map((failure) => ({ message: failureText(failure) }));
  throw new ApiError(first.reason, failureText(first), { details: { ...details, causes } });
}

function failureText({ policy, binding, message }: Failure): string {
  return binding === undefined
    ? `policy ${JSON.stringify(policy.name)} denied request: ${message}`
    : `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;
}

/** Replaces whole members, because the previous values may be shared. */
function replaceMembers(draft: Draft<ApiObject>, object: ApiObject): void {
  for (const key of Object.keys(draft)) if (!Object.hasOwn(object, key)) Reflect.deleteProperty(draft, key);
  Object.assign(draft, object);
}
