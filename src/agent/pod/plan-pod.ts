/**
 * Decides the next actions for a pod without carrying them out. All rules of order and restart are here, so that they
 * are the same for every runtime; those of the end are in plan-termination.ts.
 */
import type { Container } from "../../api/generated/types/core-v1.ts";
import { findImageProblem } from "../../api/values/image-reference.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import type { TimerKind } from "../../base/loop/loop.ts";
import type { FoundImage, ProbeType } from "../runtime-handler.ts";
import { findConfigProblem } from "./config-problem.ts";
import {
  CREATE_RETRY_MS,
  hasNoRun,
  isOutdated,
  restartAt,
  type ContainerPhase,
  type ContainerRecord,
  type Limits,
} from "./container-record.ts";
import { compareSize } from "./container-size.ts";
import { findShrinkProblem } from "./memory-shrink.ts";
import { planTermination, shortensKill } from "./plan-termination.ts";
import {
  findDeadline,
  findTermination,
  findRestartOfAll,
  isRunAgain,
  isStarted,
  probeAssessmentOf,
  recordOf,
  type PodFacts,
} from "./pod-facts.ts";
import { CONFIG_ERROR, stopAction, type PodAction, type PodPlan, type Recheck } from "./pod-plan.ts";
import { containersOf, type RoleContainer } from "./restart-policy.ts";

/** Reason for a container that the runtime could not create. */
const CREATE_ERROR = "CreateContainerError";

const SHRINK_RETRY_MS = 10_000;
/** Time for which a failed pull is shown as an error, before it is shown as back-off. */
export const PULL_ERROR_SHOWN_MS = 2000;

export function planPod(facts: PodFacts, now: number): PodPlan {
  const termination = findTermination(facts, now);
  return termination === undefined ? planRunning(facts, now) : planTermination(facts, termination, now);
}

function planRunning(facts: PodFacts, now: number): PodPlan {
  const cause = findRestartOfAll(facts);
  if (cause !== undefined) return planRestartOfAll(facts, restartAt(cause), now);
  const draft = new PlanDraft(facts, now);
  let isBlocked = false;
  for (const each of facts.hold === undefined ? containersOf(facts.pod) : []) {
    if (isBlocked && each.role !== "ephemeral") break;
    draft.keepRunning(each);
    isBlocked ||= isHoldingUp(facts, each, now);
  }
  draft.lookAt(facts.hold?.tryAt, "periodic");
  draft.lookAt(findDeadline(facts), "periodic");
  return { actions: draft.actions, recheck: draft.recheck, termination: undefined, hasEnded: false };
}

/** Stops all containers without hooks. Then the pod restarts with its first init container. */
function planRestartOfAll(facts: PodFacts, at: number, now: number): PodPlan {
  const draft = new PlanDraft(facts, now);
  const all = containersOf(facts.pod).filter(({ role }) => role !== "ephemeral");
  const left = all.filter(({ container }) => !hasNoRun(recordOf(facts, container.name)));
  const graceMs = plainNumber(facts.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  for (const { container } of left) {
    if (!shortensKill(recordOf(facts, container.name), now + graceMs)) continue;
    const message = `Stopping container ${container.name}`;
    draft.actions.push({ type: "stop", container, delayMs: 0, graceMs, message, isReplaced: false });
  }
  if (left.length === 0 && at <= now) {
    draft.actions.push(...all.map(({ container }) => ({ type: "reset", container }) as const));
  }
  draft.lookAt(at, "periodic");
  draft.lookAt(findDeadline(facts), "periodic");
  return { actions: draft.actions, recheck: draft.recheck, termination: undefined, hasEnded: false };
}

/** Whether later containers must wait for this one. */
function isHoldingUp(facts: PodFacts, { role, container }: RoleContainer, now: number): boolean {
  if (role === "sidecar") return !isStarted(facts, container, now);
  if (role !== "init") return false;
  const { phase, exit } = recordOf(facts, container.name);
  return phase.type !== "exited" || exit?.exitCode !== 0;
}

/** Collects the actions for the containers of a pod that should run. */
class PlanDraft {
  readonly actions: PodAction[] = [];
  recheck: Recheck | undefined;
  readonly #facts: PodFacts;
  readonly #now: number;

  constructor(facts: PodFacts, now: number) {
    this.#facts = facts;
    this.#now = now;
  }

  lookAt(at: number | undefined, kind: TimerKind): void {
    if (at === undefined || at <= this.#now) return;
    const { recheck } = this;
    if (recheck === undefined) this.recheck = { at, kind };
    else {
      const isProgress = kind === "progress" || recheck.kind === "progress";
      this.recheck = { at: Math.min(at, recheck.at), kind: isProgress ? "progress" : "periodic" };
    }
  }

  keepRunning(each: RoleContainer): void {
    const { container } = each;
    const record = recordOf(this.#facts, container.name);
    const { phase } = record;
    if (phase.type === "idle") this.#bring(container);
    else if (phase.type === "inspected") this.#useImage(container, phase.image);
    else if (phase.type === "pulled") this.#start(container, "new image");
    else if (phase.type === "exited") this.#again(each, record);
    else if (phase.type === "unpullable") this.#pullAgain(container, phase);
    else if (phase.type === "running" && phase.killAt === undefined) {
      const podLimits = this.#facts.pod.spec.resources?.limits;
      const reason = isReplaceable(each) ? findReplacement(container, record, podLimits) : undefined;
      if (reason !== undefined) return this.#replace(container, reason);
      if (compareSize(container, record, podLimits) !== "same") this.#resize(container);
      this.#watch(container, phase);
    }
  }

  /** Memory in use may fall later. */
  #resize(container: Container): void {
    if (this.#facts.isMeasuring) return;
    if (findShrinkProblem(this.#facts) === undefined) this.actions.push({ type: "resize", container });
    else this.lookAt(this.#now + SHRINK_RETRY_MS, "periodic");
  }

  /** The spec differs from the run: stops the run, and restarts under any restart policy. */
  #replace(container: Container, message: string): void {
    const graceMs = plainNumber(this.#facts.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    this.actions.push({ ...stopAction(container, graceMs, message), isReplaced: true });
  }

  /** Begins with the image: pulls it, or asks whether it is present. */
  #bring(container: Container): void {
    const { image = "", imagePullPolicy = "IfNotPresent" } = container;
    const problem = findImageProblem(image);
    if (problem !== undefined) {
      const why = `couldn't parse image name ${JSON.stringify(image)}: ${problem}`;
      const message = `Failed to apply default image tag ${JSON.stringify(image)}: ${why}`;
      this.actions.push({ type: "refuse", container, reason: "InvalidImageName", message });
      return;
    }
    this.actions.push({ type: imagePullPolicy === "Always" ? "pull" : "inspect", container });
  }

  #useImage(container: Container, found: FoundImage | undefined): void {
    const { image = "", imagePullPolicy } = container;
    if (found !== undefined) this.#start(container, "known image");
    else if (imagePullPolicy === "Never") {
      const message = `Container image ${JSON.stringify(image)} is not present with pull policy of Never`;
      this.actions.push({ type: "refuse", container, reason: "ErrImageNeverPull", message });
    } else this.actions.push({ type: "pull", container });
  }

  #start(container: Container, image: "new image" | "known image"): void {
    const isImageNew = image === "new image";
    if (this.#facts.hasOutsideEnvironment(container))
      return this.#startWithEnvironment(container, isImageNew);
    const message = findConfigProblem(this.#facts, container);
    if (message === undefined) this.actions.push({ type: "start", container, isImageNew });
    else this.actions.push({ type: "refuse", container, reason: CONFIG_ERROR, message });
  }

  #startWithEnvironment(container: Container, isImageNew: boolean): void {
    const { lookingSince } = recordOf(this.#facts, container.name);
    if (lookingSince === undefined) {
      this.actions.push({ type: "lookup", container, isImageNew });
      return;
    }
    const finding = this.#facts.checkEnvironment(container, lookingSince);
    if (finding.type === "open") return;
    if (finding.type === "problem") {
      const failure = {
        reason: CONFIG_ERROR,
        message: finding.message,
        retryAfterMs: CREATE_RETRY_MS,
      } as const;
      this.actions.push({ type: "refuse", container, ...failure });
      return;
    }
    const message = findConfigProblem(this.#facts, container);
    if (message === undefined) this.actions.push({ type: "start", container, isImageNew: true });
    else this.actions.push({ type: "refuse", container, reason: CONFIG_ERROR, message });
  }

  #again(each: RoleContainer, record: ContainerRecord): void {
    const { exit } = record;
    if (exit !== undefined && !isRunAgain(this.#facts, each, exit)) return;
    const isNow = exit?.isReplaced === true || isOutdated(record, each.container.image ?? "");
    const at = isNow ? this.#now : restartAt(record);
    if (at <= this.#now) this.#bring(each.container);
    else this.lookAt(at, "periodic");
  }

  #pullAgain(container: Container, phase: Extract<ContainerPhase, { type: "unpullable" }>): void {
    if (phase.retryAt === undefined) {
      const isMended =
        phase.reason === CONFIG_ERROR && findConfigProblem(this.#facts, container) === undefined;
      if (isMended) this.#bring(container);
      return;
    }
    if (phase.reason === CONFIG_ERROR || phase.reason === CREATE_ERROR) {
      // The container keeps its shown state, and its image is present.
      if (phase.retryAt <= this.#now) this.#start(container, "known image");
      this.lookAt(phase.retryAt, "periodic");
      return;
    }
    if (phase.retryAt <= this.#now) this.actions.push({ type: "pull", container });
    this.lookAt(phase.failedAt + PULL_ERROR_SHOWN_MS, "progress");
    this.lookAt(phase.retryAt, "periodic");
  }

  #watch(container: Container, phase: Extract<ContainerPhase, { type: "running" }>): void {
    const ask = (probe: ProbeType): void => {
      const isNew = !phase.asked.has(probe) && this.#facts.probeOf(container, probe) !== undefined;
      if (isNew) this.actions.push({ type: "probe", container, probe });
    };
    ask("startup");
    if (this.#assess(container, "startup") !== "passes") return;
    ask("readiness");
    ask("liveness");
    this.#assess(container, "readiness");
    this.#assess(container, "liveness");
  }

  /**
   * Stops a container whose startup or liveness probe fails; the restart policy decides about the restart.
   */
  #assess(container: Container, type: ProbeType): string {
    const { probeStatus, changesAt } = probeAssessmentOf(this.#facts, { container, type }, this.#now);
    this.lookAt(changesAt, type === "readiness" ? "progress" : "periodic");
    if (probeStatus === "fails" && type !== "readiness") {
      const message = `Container ${container.name} failed ${type} probe, will be restarted`;
      const seconds =
        this.#facts.probeOf(container, type)?.terminationGracePeriodSeconds ??
        this.#facts.pod.spec.terminationGracePeriodSeconds;
      this.actions.push(stopAction(container, plainNumber(seconds ?? 30) * 1000, message));
    }
    return probeStatus;
  }
}

/** Why a running container must restart to match its spec; undefined when it need not. */
function findReplacement(
  container: Container,
  record: ContainerRecord,
  podLimits: Limits,
): string | undefined {
  const { name, image = "" } = container;
  if (isOutdated(record, image)) return `Container ${name} definition changed, will be restarted`;
  return compareSize(container, record, podLimits) === "needs restart"
    ? `Container ${name} resize requires restart`
    : undefined;
}

/** Init containers end by themselves, and ephemeral containers never change. */
function isReplaceable({ role }: RoleContainer): boolean {
  return role === "main" || role === "sidecar";
}
