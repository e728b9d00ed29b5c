/**
 * Annotations that control simulated containers (docs/reference/simulated-pods.md).
 * `simulated.setpoint.dev/NAME` applies to all containers of a pod, `CONTAINER.simulated.setpoint.dev/NAME`
 * to one.
 */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { parseDuration } from "../../api/values/time.ts";
import { ownValue } from "../rules/value-rules.ts";
import { resourceNumber } from "./resource-number.ts";

export const SIMULATED = "simulated.setpoint.dev";

/** Usage of a container without annotations: that of an idle process. */
const IDLE = { cpu: "1m", memory: "16Mi" };

export function isSimulatedAnnotation(key: string): boolean {
  return key.startsWith(`${SIMULATED}/`) || key.includes(`.${SIMULATED}/`);
}

export function findSimulated({ metadata }: Pod, container: string, name: string): string | undefined {
  const { annotations } = metadata;
  if (annotations === undefined) return undefined;
  return (
    ownValue(annotations, `${container}.${SIMULATED}/${name}`) ??
    ownValue(annotations, `${SIMULATED}/${name}`)
  );
}

/** A Go duration, a number of seconds, or `never`; undefined for other texts. */
export function findSimulatedMs(text: string): number | undefined {
  if (text === "never") return Infinity;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  try {
    const ns = parseDuration(text);
    return ns < 0n ? undefined : Number(ns / 1_000_000n);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Usage of a running simulated container in thousandths of cores and bytes. */
export function simulatedUsage(
  pod: Pod,
  container: string,
): { readonly cpuMillis: number; readonly memoryBytes: number } {
  return {
    cpuMillis: resourceNumber("cpu", findSimulated(pod, container, "cpu") ?? IDLE.cpu),
    memoryBytes: resourceNumber("memory", findSimulated(pod, container, "memory") ?? IDLE.memory),
  };
}
