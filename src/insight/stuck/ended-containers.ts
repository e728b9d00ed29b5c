/** Containers of a pod that ended with a failure, with the run that failed. */
import type { Pod } from "../../api/generated/types/core-v1.ts";

type ContainerStatus = NonNullable<Pod["status"]["containerStatuses"]>[number];
export type ContainerEnd = NonNullable<NonNullable<ContainerStatus["lastState"]>["terminated"]>;

export interface EndedContainer {
  readonly name: string;
  readonly status: ContainerStatus;
  readonly end: ContainerEnd;
  /** The run before the current one ended: the container waits to start again. */
  readonly isPrevious: boolean;
}

export function endedContainers({ status }: Pod): readonly EndedContainer[] {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return all.flatMap((each): readonly EndedContainer[] => {
    const { name, state, lastState } = each;
    const now = state?.terminated;
    if (now !== undefined)
      return now.exitCode === 0 ? [] : [{ name, status: each, end: now, isPrevious: false }];
    const before = lastState?.terminated;
    if (state?.waiting === undefined || before === undefined) return [];
    return [{ name, status: each, end: before, isPrevious: true }];
  });
}

/** How a container ended, and its last line: `ended with code 3 (Error)`. */
export function endText(end: ContainerEnd, limit: string | undefined): string {
  if (end.reason === "OOMKilled") {
    const what = limit === undefined ? "the memory of its node" : `its memory limit (${limit})`;
    return `used more than ${what} and was killed (OOMKilled, code ${String(end.exitCode)})`;
  }
  const reason = end.reason === undefined ? "" : ` (${end.reason})`;
  return `ended with code ${String(end.exitCode)}${reason}`;
}

/** Memory limit of a container. */
export function memoryLimit(pod: Pod, container: string): string | undefined {
  const found = pod.spec.containers.find(({ name }) => name === container);
  return found?.resources?.limits?.["memory"];
}

/** Longer lines are cut. */
const LINE_MAX = 160;

export function lastLineText(line: string | undefined): string {
  if (line === undefined) return "";
  return `; its last line: ${line.length > LINE_MAX ? `${line.slice(0, LINE_MAX - 1)}…` : line}`;
}
