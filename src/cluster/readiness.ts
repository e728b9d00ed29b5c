/** Decides when a cluster that has started can be used: its nodes are Ready and pods get a service account. */
import { Node, ServiceAccount } from "../api/generated/types/core-v1.ts";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import { pause } from "../base/loop/pause.ts";
import type { ControlPlane } from "./control-plane/control-plane.ts";

/** Lists of nodes are short at the start; large ones are read less often. */
const LOOK_MS = 25;
const LOOK_MAX_MS = 500;
/** Time after which the log says what is missing. */
const SILENCE_MS = 10_000;

export interface ReadinessOptions {
  readonly plane: Pick<ControlPlane, "objects">;
  /** Number of nodes of this process. */
  readonly nodes: number;
  readonly loop: Loop;
  readonly log: Log;
  /** Aborts to stop waiting. */
  readonly signal: AbortSignal;
}

/** Resolves once the nodes are Ready and the default service account exists, or when the signal aborts. */
export async function untilUsable({ plane, nodes, loop, log, signal }: ReadinessOptions): Promise<void> {
  const startedAt = loop.elapsed();
  let hasWarned = false;
  for (let waitMs = LOOK_MS; !signal.aborted; waitMs = Math.min(waitMs * 1.5, LOOK_MAX_MS)) {
    const missing = findMissing(plane, nodes);
    if (missing === undefined) return;
    if (!hasWarned && loop.elapsed() - startedAt > SILENCE_MS) {
      log.warn("the cluster is not ready yet", { missing });
      hasWarned = true;
    }
    await pause(loop, { ms: waitMs, kind: "progress" }, signal);
  }
}

function findMissing(plane: Pick<ControlPlane, "objects">, nodes: number): string | undefined {
  const accounts = plane.objects(ServiceAccount, "default");
  if (!accounts.some(({ metadata }) => metadata.name === "default")) return "the default service account";
  if (nodes === 0) return undefined;
  const ready = (plane.objects(Node, "") as readonly Node[]).filter(isReady).length;
  return ready >= nodes ? undefined : `${String(nodes - ready)} of ${String(nodes)} nodes`;
}

function isReady({ status }: Node): boolean {
  return status.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") ?? false;
}
