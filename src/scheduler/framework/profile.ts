/** One configuration of the scheduler, identified by its scheduler name: its plugins and their weights. */

import type { Random } from "../../base/loop/loop.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import type { NodeInfo } from "../snapshot/node-info.ts";
import type { PodInfo } from "../snapshot/pod-info.ts";
import type { PodShape } from "../snapshot/pod-shape.ts";
import { CandidateScores } from "./candidate-scores.ts";
import type { Diagnosis } from "./diagnosis.ts";
import { intersect, NodeFilterResults } from "./node-filter-results.ts";
import { nodesToFind } from "./nodes-to-find.ts";
import type { Nominations } from "./nominations.ts";
import type {
  SchedulingCycle,
  PluginName,
  Rejection,
  PostFilterResult,
  SchedulerPlugin,
} from "./scheduler-plugin.ts";

export interface ProfileOptions {
  readonly schedulerName: string;
  /** Enabled plugins in the order in which they run. */
  readonly plugins: readonly SchedulerPlugin[];
  readonly weights: Readonly<Partial<Record<PluginName, number>>>;
  /** 0 derives the percentage from the number of nodes. */
  readonly percentageOfNodesToScore: number;
  readonly snapshot: ClusterSnapshot;
  readonly nominations: Nominations;
  /** Breaks ties between nodes of equal score. */
  readonly ties: Random;
}

export type Placement =
  /** `note` says for people why this node. */
  | { readonly type: "node"; readonly node: NodeInfo; readonly note: string }
  | { readonly type: "unschedulable"; readonly diagnosis: Diagnosis };

const NO_PLUGINS: ReadonlySet<PluginName> = new Set();

/** Upper bound of shapes with cached filter results; each costs some bytes per node. */
const FILTER_RESULTS_MAX = 64;

/** Checks of plugins of scope `cluster`, made for each cycle. */
interface ClusterChecks {
  readonly rejection: Rejection | undefined;
  readonly checks: readonly ((node: NodeInfo) => Rejection | undefined)[];
  readonly only: ReadonlySet<string> | undefined;
  readonly narrowedBy: readonly SchedulerPlugin[];
}

export class Profile {
  readonly schedulerName: string;
  readonly plugins: readonly SchedulerPlugin[];
  readonly #options: ProfileOptions;
  readonly #nodePlugins: readonly SchedulerPlugin[];
  readonly #clusterPlugins: readonly SchedulerPlugin[];
  readonly #holdingPlugins: readonly SchedulerPlugin[];
  readonly #scores: CandidateScores;
  /** Cached filterResults by shape, least recently used first. */
  readonly #filterResults = new Map<PodShape, NodeFilterResults>();
  /** Start of the next search, so that all nodes are considered over time. */
  #start = 0;

  constructor(options: ProfileOptions) {
    const { schedulerName, plugins, weights, ties } = options;
    this.#options = options;
    this.schedulerName = schedulerName;
    this.plugins = plugins;
    this.#nodePlugins = plugins.filter(({ scope }) => scope === "node");
    this.#clusterPlugins = plugins.filter(({ scope }) => scope === "cluster");
    this.#holdingPlugins = plugins.filter((plugin) => "holds" in plugin);
    this.#scores = new CandidateScores(this.#clusterPlugins, weights, ties);
  }

  has(name: PluginName): boolean {
    return this.plugins.some((plugin) => plugin.name === name);
  }

  /** Plugins that hold the pod back before an attempt. */
  holders(pod: PodInfo): ReadonlySet<PluginName> {
    let holders: Set<PluginName> | undefined;
    for (const plugin of this.#holdingPlugins) {
      if (plugin.holds?.(pod) !== true) continue;
      holders ??= new Set();
      holders.add(plugin.name);
    }
    return holders ?? NO_PLUGINS;
  }

  /** Actions of plugins for a pod that fits on no node. */
  postFilter(cycle: SchedulingCycle): readonly PostFilterResult[] {
    return this.plugins.flatMap((plugin) => plugin.postFilter?.(cycle) ?? []);
  }

  /** Requires at least one node. */
  place(cycle: SchedulingCycle): Placement {
    const filterResults = this.#filterResultsOf(cycle);
    const cluster = this.#clusterChecks(cycle);
    const { size: nodeCount } = this.#options.snapshot;
    const all = filterResults.rejection ?? cluster.rejection;
    if (all !== undefined) return unschedulable({ nodeCount, all, byNode: new Map(), others: undefined });
    const nominated = this.#nominatedNode(cycle);
    if (nominated !== undefined && this.#check(cycle, nominated, { filterResults, cluster }) === undefined) {
      return {
        type: "node",
        node: nominated,
        note: `chose ${nominated.name}: pods were preempted for it there`,
      };
    }
    const search = this.#search(cycle, { filterResults, cluster });
    const node = this.#scores.best(cycle, search.found, filterResults);
    if (node !== undefined) {
      const note = `chose ${node.name}: best score of ${String(search.found.length)} nodes that fit, of ${String(nodeCount)}`;
      return { type: "node", node, note };
    }
    return unschedulable({ nodeCount, all: undefined, byNode: search.rejected, others: search.others });
  }

  /** Checks the pod against the node's current state, including room for nominated pods. */
  checkNode(cycle: SchedulingCycle, node: NodeInfo): Rejection | undefined {
    const cluster = this.#clusterChecks(cycle);
    if (cluster.rejection !== undefined) return cluster.rejection;
    return this.#check(cycle, node, { filterResults: this.#filterResultsOf(cycle), cluster });
  }

  /** Drops cached filter results after a change that affects plugins of scope `node` but is not part of a node. */
  forgetVerdicts(): void {
    this.#filterResults.clear();
  }

  #filterResultsOf(cycle: SchedulingCycle): NodeFilterResults {
    const { shape } = cycle.pod;
    const found = this.#filterResults.get(shape);
    if (found !== undefined) {
      this.#filterResults.delete(shape);
      this.#filterResults.set(shape, found);
      return found;
    }
    const filterResults = new NodeFilterResults(this.#nodePlugins, cycle);
    this.#filterResults.set(shape, filterResults);
    if (this.#filterResults.size > FILTER_RESULTS_MAX) {
      const [oldest] = this.#filterResults.keys();
      if (oldest !== undefined) this.#filterResults.delete(oldest);
    }
    return filterResults;
  }

  #clusterChecks(cycle: SchedulingCycle): ClusterChecks {
    const checks: ClusterChecks["checks"][number][] = [];
    const narrowedBy: SchedulerPlugin[] = [];
    let only: ReadonlySet<string> | undefined;
    for (const plugin of this.#clusterPlugins) {
      const answer = plugin.filter?.(cycle);
      if (answer?.type === "reject") return { rejection: answer.rejection, checks: [], only, narrowedBy };
      if (answer?.type !== "check") continue;
      checks.push((node) => answer.check(node));
      if (answer.only !== undefined) narrowedBy.push(plugin);
      only = intersect(only, answer.only);
    }
    return { rejection: undefined, checks, only, narrowedBy };
  }

  #nominatedNode({ pod }: SchedulingCycle): NodeInfo | undefined {
    const { nominations, snapshot } = this.#options;
    const name = nominations.nodeOf(pod.key);
    return name === undefined ? undefined : snapshot.find(name);
  }

  #search(cycle: SchedulingCycle, checks: Checks): Search {
    const { snapshot, percentageOfNodesToScore } = this.#options;
    const only = intersect(checks.filterResults.only, checks.cluster.only);
    const nodes = only === undefined ? snapshot.order : namedNodes(snapshot, only);
    const enough = nodesToFind(nodes.length, percentageOfNodesToScore);
    const found: NodeInfo[] = [];
    const rejected = new Map<NodeInfo, Rejection>();
    const rejections: Rejection[] = [];
    const failed: NodeInfo[] = [];
    let checked = 0;
    for (; checked < nodes.length && found.length < enough; checked++) {
      const node = nodes[(this.#start + checked) % nodes.length];
      if (node === undefined) continue;
      const rejection = this.#check(cycle, node, checks);
      if (rejection === undefined) found.push(node);
      else if (found.length === 0) {
        failed.push(node);
        rejections.push(rejection);
      }
    }
    this.#start = nodes.length === 0 ? 0 : (this.#start + checked) % nodes.length;
    if (found.length > 0) return { found, rejected, others: undefined };
    for (const [i, node] of failed.entries()) {
      const rejection = rejections[i];
      if (rejection !== undefined) rejected.set(node, rejection);
    }
    const others = only === undefined ? undefined : uncheckedRejection(checks);
    return { found, rejected, others };
  }

  #check(cycle: SchedulingCycle, node: NodeInfo, checks: Checks): Rejection | undefined {
    const { nominations } = this.#options;
    const before = nominations.before(cycle.pod, node.name);
    if (before.length === 0) return checkOne(node, checks);
    return this.#checkBeside(cycle, node, before) ?? checkOne(node, checks);
  }

  /** Checks the node as if the pods nominated for it were already there. */
  #checkBeside(
    cycle: SchedulingCycle,
    node: NodeInfo,
    before: readonly SchedulingCycle["pod"][],
  ): Rejection | undefined {
    const { snapshot } = this.#options;
    for (const pod of before) snapshot.attach(pod, node);
    const cluster = this.#clusterChecks(cycle);
    const rejection =
      cluster.rejection ?? checkOne(node, { filterResults: this.#filterResultsOf(cycle), cluster });
    for (const pod of before) snapshot.detach(pod, node);
    return rejection;
  }
}

interface Checks {
  readonly filterResults: NodeFilterResults;
  readonly cluster: ClusterChecks;
}

interface Search {
  readonly found: readonly NodeInfo[];
  /** Complete only if no node was found. */
  readonly rejected: ReadonlyMap<NodeInfo, Rejection>;
  readonly others: Rejection | undefined;
}

function checkOne(node: NodeInfo, { filterResults, cluster }: Checks): Rejection | undefined {
  const rejection = filterResults.check(node);
  if (rejection !== undefined) return rejection;
  for (const check of cluster.checks) {
    const found = check(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

function namedNodes(snapshot: ClusterSnapshot, names: ReadonlySet<string>): readonly NodeInfo[] {
  return [...names].flatMap((name) => snapshot.find(name) ?? []);
}

/** Rejection of the nodes that plugins excluded without a check. */
function uncheckedRejection({ filterResults, cluster }: Checks): Rejection | undefined {
  const plugins = [...filterResults.narrowedBy, ...cluster.narrowedBy].map(({ name }) => name).toSorted();
  const [plugin] = plugins;
  if (plugin === undefined) return undefined;
  const reason = `node(s) didn't satisfy plugin(s) [${plugins.join(" ")}]`;
  return { plugin, reasons: [reason], isResolvable: false };
}

function unschedulable(diagnosis: Diagnosis): Placement {
  return { type: "unschedulable", diagnosis };
}
