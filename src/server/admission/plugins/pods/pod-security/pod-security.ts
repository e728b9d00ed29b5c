/**
 * PodSecurity: checks pods against the level of the Pod Security Standards in their namespace's labels. The mode
 * `enforce` refuses pods. The modes `warn` and `audit` add warnings and audit annotations, also for objects with pod
 * templates.
 */
import { invalid } from "../../../../../api/errors/api-error.ts";
import { fieldErrorsText } from "../../../../../api/errors/field-error.ts";
import type { Namespace, Pod } from "../../../../../api/generated/types/core-v1.ts";
import type { RuntimeClass } from "../../../../../api/generated/types/node-v1.ts";
import type { Loop } from "../../../../../base/loop/loop.ts";
import { kindPrefix } from "../../../../objects/lister.ts";
import { definePlugin } from "../../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../../plugin.ts";
import { refusal } from "../../../refusal.ts";
import type { PodLike, Violation } from "./check.ts";
import type { PodSecurityConfiguration } from "./configuration.ts";
import { OPEN_CONFIGURATION } from "./configuration.ts";
import { detailText, violationsOf } from "./evaluation.ts";
import { reviewNamespace } from "./namespace-review.ts";
import { POD_MAKERS, templateOf } from "./pod-template.ts";
import type { PodMaker } from "./pod-template.ts";
import { isSignificantUpdate } from "./pod-update.ts";
import { isTightened, namespacePolicy, policyText } from "./policy.ts";
import type { LevelVersion, NamespacePolicy } from "./policy.ts";

const NAMESPACES = kindPrefix<Namespace>("namespaces");
const PODS = kindPrefix<Pod>("pods");
const RUNTIME_CLASSES = kindPrefix<RuntimeClass>("runtimeclasses");
const NOTES = "pod-security.kubernetes.io/";

export function podSecurity(
  loop: Loop,
  configuration: PodSecurityConfiguration = OPEN_CONFIGURATION,
): AdmissionPlugin {
  const guard = new Guard(loop, configuration);
  return definePlugin<Namespace | Pod | PodMaker>({
    name: "PodSecurity",
    interests: [
      { resources: ["namespaces", "pods", ...POD_MAKERS], operations: ["CREATE", "UPDATE"] },
      { resources: ["pods/ephemeralcontainers", "pods/resize"], operations: ["UPDATE"] },
    ],

    validate(object, request) {
      if (object.kind === "Namespace") guard.checkNamespace(object, request);
      else if (object.kind === "Pod") guard.checkPod(object, request);
      else guard.checkMaker(object, request);
    },
  });
}

class Guard {
  readonly #loop: Loop;
  readonly #configuration: PodSecurityConfiguration;
  /** Parsed labels, cached by the stored namespace object. */
  readonly #policies = new WeakMap<Namespace, NamespacePolicy>();

  constructor(loop: Loop, configuration: PodSecurityConfiguration) {
    this.#loop = loop;
    this.#configuration = configuration;
  }

  checkNamespace(namespace: Namespace, request: AdmissionRequest): void {
    const next = this.#policyOf(namespace);
    const previous = request.previous as Namespace | undefined;
    const before = previous === undefined ? undefined : this.#policyOf(previous);
    const problems = fieldErrorsText(next.problems);
    if (problems !== "" && problems !== fieldErrorsText(before?.problems ?? []))
      throw invalid({ group: "", kind: "Namespace" }, request.name, next.problems);
    if (before === undefined || !isTightened(before.policy.enforce, next.policy.enforce)) return;
    if (this.#configuration.exemptions.namespaces.includes(request.name)) return;
    this.#warnOfPods(next.policy.enforce, request);
  }

  checkPod(pod: Pod, request: AdmissionRequest): void {
    if (this.#isExempt(request)) return;
    const found = this.#found(request);
    const { enforce, audit, warn } = found.policy;
    if (found.problems.length === 0 && [enforce, audit, warn].every(isOpen)) return;
    const previous = request.previous as Pod | undefined;
    if (previous !== undefined && !isSignificantUpdate(pod, previous)) return;
    if (this.#isExemptRuntime(pod, request)) return;
    request.notes.annotate(`${NOTES}enforce-policy`, policyText(enforce));
    const judge = judgeOf(withHandler(pod, request));
    const violations = judge(enforce);
    this.#audit(judge, found, request);
    if (violations.length > 0)
      throw refusal(request, `violates PodSecurity ${sentence(enforce, violations)}`);
    warnOf(judge, warn, request);
  }

  /** Warns and audits only. The pods made from the template are refused later. */
  checkMaker(maker: PodMaker, request: AdmissionRequest): void {
    if (this.#isExempt(request)) return;
    const found = this.#found(request);
    const { audit, warn } = found.policy;
    if (found.problems.length === 0 && isOpen(audit) && isOpen(warn)) return;
    const template = templateOf(maker);
    if (template === undefined || this.#isExemptRuntime(template, request)) return;
    const judge = judgeOf(withHandler(template, request));
    this.#audit(judge, found, request);
    warnOf(judge, warn, request);
  }

  #audit(judge: Judge, { policy, problems }: NamespacePolicy, { notes }: AdmissionRequest): void {
    if (problems.length > 0)
      notes.annotate(`${NOTES}error`, `Failed to parse policy: ${fieldErrorsText(problems)}`);
    const violations = judge(policy.audit);
    if (violations.length === 0) return;
    const text = `would violate PodSecurity ${sentence(policy.audit, violations)}`;
    notes.annotate(`${NOTES}audit-violations`, text);
  }

  #warnOfPods(policy: LevelVersion, request: AdmissionRequest): void {
    const { memory, name, notes } = request;
    const { runtimeClasses } = this.#configuration.exemptions;
    const reviewed = {
      namespace: name,
      pods: memory.walk(PODS, name),
      isExempt: ({ spec }: Pod) => runtimeClasses.includes(spec.runtimeClassName ?? ""),
      inspect: (pod: Pod) => withHandler(pod, request),
      elapsed: () => this.#loop.elapsed(),
    };
    for (const warning of reviewNamespace(reviewed, policy)) notes.warn(warning);
  }

  #isExempt({ namespace, user, notes }: AdmissionRequest): boolean {
    const { namespaces, usernames } = this.#configuration.exemptions;
    const why = namespaces.includes(namespace)
      ? "namespace"
      : usernames.includes(user.name)
        ? "user"
        : undefined;
    if (why !== undefined) notes.annotate(`${NOTES}exempt`, why);
    return why !== undefined;
  }

  #isExemptRuntime({ spec }: PodLike, { notes }: AdmissionRequest): boolean {
    const { runtimeClasses } = this.#configuration.exemptions;
    if (!runtimeClasses.includes(spec.runtimeClassName ?? "")) return false;
    notes.annotate(`${NOTES}exempt`, "runtimeClass");
    return true;
  }

  /** Policy of the request's namespace. NamespaceLifecycle has refused a missing namespace before. */
  #found({ memory, namespace }: AdmissionRequest): NamespacePolicy {
    const home = memory.find(NAMESPACES, namespace);
    return home === undefined ? { policy: this.#configuration.defaults, problems: [] } : this.#policyOf(home);
  }

  #policyOf(namespace: Namespace): NamespacePolicy {
    let found = this.#policies.get(namespace);
    if (found === undefined) {
      found = namespacePolicy(namespace.metadata.labels, this.#configuration.defaults);
      this.#policies.set(namespace, found);
    }
    return found;
  }
}

function isOpen({ level }: LevelVersion): boolean {
  return level === "privileged";
}

function withHandler(pod: PodLike, { memory }: AdmissionRequest): PodLike {
  const { runtimeClassName } = pod.spec;
  if (runtimeClassName === undefined) return pod;
  return { ...pod, runtimeHandler: memory.find(RUNTIME_CLASSES, runtimeClassName)?.handler };
}

type Judge = (policy: LevelVersion) => readonly Violation[];

/** Caches results by policy, because the three modes mostly name the same level. */
function judgeOf(pod: PodLike): Judge {
  const known = new Map<string, readonly Violation[]>();
  return (policy) => {
    const key = policyText(policy);
    const violations = known.get(key) ?? violationsOf(pod, policy);
    known.set(key, violations);
    return violations;
  };
}

function warnOf(judge: Judge, policy: LevelVersion, { notes }: AdmissionRequest): void {
  const violations = judge(policy);
  if (violations.length > 0) notes.warn(`would violate PodSecurity ${sentence(policy, violations)}`);
}

/** `"restricted:latest": privileged (…), runAsUser=0 (…)`. */
function sentence(policy: LevelVersion, violations: readonly Violation[]): string {
  return `"${policyText(policy)}": ${detailText(violations)}`;
}
