/** Number of fitting nodes that is enough to score. In a large cluster, the best of some is as good as the best of all. */

/** Smaller clusters are searched completely. */
const NODES_MIN = 100;
const PERCENT_MIN = 5;
const PERCENT_MAX = 50;
/** The percentage drops by one per this number of nodes. */
const NODES_PER_PERCENT = 125;

/** `percent` is the configured percentage; 0 derives it from the number of nodes. */
export function nodesToFind(nodeCount: number, percent: number): number {
  if (nodeCount < NODES_MIN || percent >= 100) return nodeCount;
  const adaptive = Math.max(PERCENT_MIN, PERCENT_MAX - Math.floor(nodeCount / NODES_PER_PERCENT));
  const share = percent > 0 ? percent : adaptive;
  return Math.max(NODES_MIN, Math.floor((nodeCount * share) / 100));
}
