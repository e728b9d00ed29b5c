/** Files of the downward API: fields and resources of the pod. */
import type { DownwardAPIVolumeFile, Pod } from "../../api/generated/types/core-v1.ts";
import { fieldText } from "../pod/environment.ts";
import { resourceText } from "../pod/resource-field.ts";
import { VolumeError, checkedPath, type Payload, type PayloadFile } from "./payload.ts";

export interface DownwardForm {
  readonly items: readonly DownwardAPIVolumeFile[];
  readonly mode: number;
  /** Allocatable resources of the node. */
  readonly allocatable: Readonly<Record<string, string>>;
}

export function downwardPayload(pod: Pod, { items, mode, allocatable }: DownwardForm): Payload {
  const payload = new Map<string, PayloadFile>();
  for (const item of items) {
    const data = Buffer.from(textOf(pod, item, allocatable));
    payload.set(checkedPath(item.path), { data, mode: item.mode ?? mode });
  }
  return payload;
}

function textOf(
  pod: Pod,
  { fieldRef, resourceFieldRef, path }: DownwardAPIVolumeFile,
  allocatable: DownwardForm["allocatable"],
): string {
  if (fieldRef?.fieldPath === "metadata.labels") return linesOf(pod.metadata.labels);
  if (fieldRef?.fieldPath === "metadata.annotations") return linesOf(pod.metadata.annotations);
  if (fieldRef !== undefined) return fieldText(pod, fieldRef.fieldPath) ?? "";
  const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const container = all.find(({ name }) => name === resourceFieldRef?.containerName);
  if (resourceFieldRef === undefined || container === undefined)
    throw new VolumeError(`file ${JSON.stringify(path)} has no source`);
  return resourceText(resourceFieldRef, container, allocatable);
}

function linesOf(map: Readonly<Record<string, string>> | undefined): string {
  const lines = Object.entries(map ?? {}).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return lines.toSorted().join("\n");
}
