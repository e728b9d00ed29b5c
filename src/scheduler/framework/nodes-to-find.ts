/** How many nodes that fit are enough to choose among: in a large cluster the best of some is as good as the best of all. */

/** Below this all are looked at. */
const NODES_MIN = 100;
const PERCENT_MIN = 5;
const PERCENT_MAX = 50;
/** For each of these many nodes, one percent less. */
const NODES_PER_PERCENT = 125;

/** `percent` is what somebody configured; 0 lets it follow from the number of nodes. */
export function nodesToFind(nodeCount: number, percent: number): number {
  if (nodeCount < NODES_MIN || percent >= 100) return nodeCount;
  const adaptive = Math.max(PERCENT_MIN, PERCENT_MAX - Math.floor(nodeCount / NODES_PER_PERCENT));
  const share = percent > 0 ? percent : adaptive;
  return Math.max(NODES_MIN, Math.floor((nodeCount * share) / 100));
}
