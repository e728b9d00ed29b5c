/** Compares the resources of a container's run with its spec. */
import type { Container } from "../../api/generated/types/core-v1.ts";
import { resourceNumber } from "../../resources/pod/resource-number.ts";
import type { ContainerRecord, Limits } from "./container-record.ts";

export type SizeDifference = "same" | "other" | "needs restart";

const RESIZABLE = ["cpu", "memory"] as const;

/** Compares amounts, not texts. Pod-level limits apply to a container without limits. */
export function compareSize(
  { resources, resizePolicy = [] }: Container,
  record: ContainerRecord,
  podLimits: Limits,
): SizeDifference {
  const given = record.resources;
  if (given === undefined || (given === resources && record.podLimits === podLimits)) return "same";
  const changed = RESIZABLE.filter(
    (name) =>
      amountOf(given.requests, name) !== amountOf(resources.requests, name) ||
      (amountOf(given.limits, name) ?? amountOf(record.podLimits, name)) !==
        (amountOf(resources.limits, name) ?? amountOf(podLimits, name)),
  );
  if (changed.length === 0) return "same";
  const isRestarted = resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" && changed.some((name) => name === resourceName),
  );
  return isRestarted ? "needs restart" : "other";
}

function amountOf(list: Readonly<Record<string, string>> | undefined, name: string): number | undefined {
  const text = list?.[name];
  return text === undefined ? undefined : resourceNumber(name, text);
}
