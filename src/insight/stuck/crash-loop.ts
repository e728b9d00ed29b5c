/** A container ends again and again; the kubelet waits longer before each restart. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import { durationText } from "../text/duration-text.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";
import { waitingContainers } from "./waiting-containers.ts";
import type { WaitingContainer } from "./waiting-containers.ts";

/** `back-off 1m20s restarting failed container=…`: the delay since the last end. */
const BACK_OFF = /back-off (?:(\d+)m)?(?:(\d+)s)? restarting/;

export const crashLoopRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const container = pod && waitingContainers(pod).find(({ reason }) => reason === "CrashLoopBackOff");
  if (pod === undefined || container === undefined) return undefined;
  const { name, restartCount } = container.status;
  const nextTry = nextTryText(container, situation.now);
  const { name: podName, namespace } = pod.metadata;
  const place = inNamespace(namespace);
  return {
    blockedBy: `container ${name} ${exitText(container)}, restarts: ${String(restartCount)}; next try ${nextTry}`,
    unblock: [
      { command: `kubectl logs ${podName} -c ${name} --previous${place}`, effect: "see why it ended" },
      { command: `setpoint timeline pod/${podName}${place}`, effect: "see the changes before" },
    ],
  };
};

function exitText({ status }: WaitingContainer): string {
  const exit = status.lastState?.terminated;
  if (exit === undefined) return "ended";
  const reason = exit.reason === undefined ? "" : ` (${exit.reason})`;
  return `ended with code ${String(exit.exitCode)}${reason}`;
}

function nextTryText({ status, message }: WaitingContainer, now: number): string {
  const [, minutes = "0", seconds = "0"] = BACK_OFF.exec(message) ?? [];
  const delayMs = (Number(minutes) * 60 + Number(seconds)) * 1000;
  const endedAt = Date.parse(status.lastState?.terminated?.finishedAt ?? "");
  if (delayMs === 0 || Number.isNaN(endedAt)) return "soon";
  const leftMs = endedAt + delayMs - now;
  return leftMs <= 0 ? "now" : `in ${durationText(leftMs)}`;
}
