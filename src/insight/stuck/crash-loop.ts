/** A container ends again and again; the kubelet waits longer before each restart. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { durationText } from "../text/duration-text.ts";
import { endText, lastLineText, memoryLimit } from "./ended-containers.ts";
import type { Remedy, Situation, StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";
import { waitingContainers } from "./waiting-containers.ts";
import type { WaitingContainer } from "./waiting-containers.ts";

/** `back-off 1m20s restarting failed container=…`: the delay since the last end. */
const BACK_OFF = /back-off (?:(\d+)m)?(?:(\d+)s)? restarting/;

/** Exit codes of a container that the kubelet stops: by itself, by SIGKILL, by SIGTERM. */
const STOP_CODES = new Set([0, 137, 143]);

export const crashLoopRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const container = pod && waitingContainers(pod).find(({ reason }) => reason === "CrashLoopBackOff");
  if (pod === undefined || container === undefined) return undefined;
  const { name, restartCount } = container.status;
  const nextTry = nextTryText(container, situation.now);
  const { name: podName, namespace } = pod.metadata;
  const place = inNamespace(namespace);
  const line = lastLineText(situation.lastLines.get(name));
  const head = `container ${name} ${exitText(container, situation)}`;
  return {
    blockedBy: `${head}, restarts: ${String(restartCount)}; next try ${nextTry}${line}`,
    unblock: [
      ...memoryRemedy(situation, container),
      { command: `kubectl logs ${podName} -c ${name} --previous${place}`, effect: "see why it ended" },
      { command: `setpoint timeline pod/${podName}${place}`, effect: "see the changes before" },
    ],
  };
};

/** A liveness probe ends a container that would have gone on. */
function exitText({ status }: WaitingContainer, situation: Situation): string {
  const exit = status.lastState?.terminated;
  const killing = situation.events.find(
    ({ reason, message = "" }) =>
      reason === "Killing" && message.startsWith(`Container ${status.name} failed `),
  );
  const [, probe] = /failed (liveness|startup) probe/.exec(killing?.message ?? "") ?? [];
  // The Event stays for an hour; a container that fails by itself ends with another code.
  if (probe !== undefined && (exit === undefined || STOP_CODES.has(exit.exitCode))) {
    const failed = situation.events.find(
      ({ reason, message = "" }) => reason === "Unhealthy" && message.toLowerCase().startsWith(probe),
    );
    const detail = failed?.message === undefined ? "" : ` (${failed.message})`;
    return `was ended by its ${probe} probe${detail}`;
  }
  if (exit === undefined) return "ended";
  const pod = asKind(situation, Pod);
  return endText(exit, pod === undefined ? undefined : memoryLimit(pod, status.name));
}

function memoryRemedy(situation: Situation, { status }: WaitingContainer): readonly Remedy[] {
  if (status.lastState?.terminated?.reason !== "OOMKilled") return [];
  const { top } = situation;
  const command = `kubectl set resources ${kubectlName(top)} -c ${status.name} --limits=memory=SIZE`;
  return top.type.kind === "Pod" ? [] : [{ command, effect: "raise its memory limit" }];
}

function nextTryText({ status, message }: WaitingContainer, now: number): string {
  const [, minutes = "0", seconds = "0"] = BACK_OFF.exec(message) ?? [];
  const delayMs = (Number(minutes) * 60 + Number(seconds)) * 1000;
  const endedAt = Date.parse(status.lastState?.terminated?.finishedAt ?? "");
  if (delayMs === 0 || Number.isNaN(endedAt)) return "soon";
  const leftMs = endedAt + delayMs - now;
  return leftMs < 500 ? "now" : `in ${durationText(leftMs)}`;
}
