/** The pods of this handler: what is remembered about each, also across a restart of the agent. */
import { join } from "node:path";
import type { ContainerRun } from "./container-run.ts";
import { namesIn, readFile, readRecord, writeWhole, type RunRecord } from "./run-folder.ts";

export interface PodRecord {
  readonly uid: string;
  readonly addresses: readonly string[];
  /** Namespaces that the pod's holder has, as options of `unshare`; empty if the pod shares all. */
  readonly namespaces: readonly string[];
  readonly hostname: string;
  /** Ports of the machine that stand for ports of the pod, on a shared network. */
  readonly ports: readonly (readonly [containerPort: number, port: number])[];
}

export class ProcessPod {
  readonly uid: string;
  readonly folder: string;
  readonly runs = new Map<string, ContainerRun>();
  record: PodRecord;

  constructor(folder: string, record: PodRecord) {
    this.uid = record.uid;
    this.folder = folder;
    this.record = record;
  }

  get ports(): ReadonlyMap<number, number> {
    return new Map(this.record.ports);
  }

  /** False also if a later agent finds that namespaces are permitted. */
  get hasNamespaces(): boolean {
    return this.record.namespaces.length > 0;
  }

  get hasNetwork(): boolean {
    return this.record.namespaces.includes("--net");
  }

  save(): void {
    writeWhole(join(this.folder, "pod.json"), JSON.stringify(this.record));
  }

  runFolder(container: string, attempt: number): string {
    return join(this.folder, "containers", container, String(attempt));
  }
}

/** Undefined if the pod was never written completely. */
export function readPod(folder: string): ProcessPod | undefined {
  const text = readFile(join(folder, "pod.json"));
  return text === undefined ? undefined : new ProcessPod(folder, JSON.parse(text) as PodRecord);
}

/** The newest run of each container. */
export function readRuns(
  pod: ProcessPod,
): readonly { readonly folder: string; readonly record: RunRecord }[] {
  return namesIn(join(pod.folder, "containers")).flatMap((container) => {
    const attempts = namesIn(join(pod.folder, "containers", container)).map(Number);
    const folder = pod.runFolder(container, Math.max(...attempts));
    const record = attempts.length === 0 ? undefined : readRecord(folder);
    return record === undefined ? [] : [{ folder, record }];
  });
}
