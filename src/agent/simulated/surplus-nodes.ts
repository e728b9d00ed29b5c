/** Simulated nodes that an earlier run with more nodes has left. */
import { Node } from "../../api/generated/types/core-v1.ts";
import { inParallel } from "../../base/loop/in-parallel.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import type { SimulatedNodesOptions } from "./simulated-nodes.ts";

/** Deletions of surplus nodes at a time. */
const DELETIONS = 8;

export async function removeSurplusNodes(
  { prefix = "node", count }: SimulatedNodesOptions,
  { cache, client, log }: RoutineParts,
): Promise<void> {
  const isSurplus = ({ metadata: { name }, status }: Node): boolean => {
    const number = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : "";
    const isOurs = status.nodeInfo?.containerRuntimeVersion.startsWith("simulated://") === true;
    return isOurs && /^[1-9]\d*$/.test(number) && Number(number) > count;
  };
  const names = cache(Node)
    .list()
    .filter(isSurplus)
    .map(({ metadata }) => metadata.name);
  await inParallel(names, DELETIONS, async (name) => {
    try {
      await client(Node).delete({ name });
    } catch (error) {
      // The user of a separate agent may lack the permission; the nodes become NotReady then.
      log.warn("a surplus node could not be deleted", { node: name, error });
    }
  });
}
