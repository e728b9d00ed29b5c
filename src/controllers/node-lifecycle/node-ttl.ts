/**
 * Tells kubelets how long they may cache Secrets and ConfigMaps: longer in larger clusters.
 *
 * Reads Nodes; writes their annotation `node.alpha.kubernetes.io/ttl`. An existing node gets a new value only when it next changes, as
 * there may be many.
 */
import { Node } from "../../api/generated/types/core-v1.ts";
import { ownValue } from "../../resources/rules/value-rules.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";

const TTL = "node.alpha.kubernetes.io/ttl";

interface SizeStep {
  readonly minNodes: number;
  readonly maxNodes: number;
  readonly ttlSeconds: number;
}

/** Upstream's steps. They overlap, so that adding and removing one node does not change the value of all others. */
const STEPS: readonly SizeStep[] = [
  { minNodes: 0, maxNodes: 100, ttlSeconds: 0 },
  { minNodes: 90, maxNodes: 500, ttlSeconds: 15 },
  { minNodes: 450, maxNodes: 1000, ttlSeconds: 30 },
  { minNodes: 900, maxNodes: 2000, ttlSeconds: 60 },
  { minNodes: 1800, maxNodes: Infinity, ttlSeconds: 300 },
];

export const nodeTtlController = defineController({ name: "ttl-controller", for: Node, reconcile });

async function reconcile(node: Node, { cache, client }: ReconcileContext): Promise<Outcome> {
  const known = ownValue(node.metadata.annotations, TTL);
  const wanted = ttlFor(cache(Node).size, known);
  if (wanted === known) return;
  const { uid } = node.metadata;
  const changes = { metadata: { uid, annotations: { [TTL]: wanted } } };
  await client(Node).patch(node, { type: "merge", changes });
}

/** Starts from the node's current step, or from the first. */
export function ttlFor(nodes: number, known: string | undefined): string {
  let at = Math.max(
    0,
    STEPS.findIndex(({ ttlSeconds }) => String(ttlSeconds) === known),
  );
  while (nodes > (STEPS[at]?.maxNodes ?? Infinity)) at++;
  while (nodes < (STEPS[at]?.minNodes ?? 0)) at--;
  return String(STEPS[at]?.ttlSeconds);
}
