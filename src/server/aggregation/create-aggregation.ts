/** Everything by which other servers take part in this one's API. */
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { ClientPair } from "../egress/egress.ts";
import type { Stage } from "../request/exchange.ts";
import type { Workshop } from "../verbs/verb.ts";
import { aggregate } from "./aggregation.ts";
import { availabilityMetrics, type AvailabilityObserver } from "./availability-metrics.ts";
import { proxyObjects } from "./relay/object-proxy.ts";
import { Relay } from "./relay/relay.ts";
import { RemoteApiUpkeep } from "./remote-api-upkeep.ts";
import { RemoteApis } from "./remote-apis.ts";
import type { RemoteApi } from "./remote-apis.ts";
import { RemoteDiscovery } from "./remote-discovery.ts";

export interface AggregationOptions {
  /** With which this server shows itself to the servers of other APIs, who then believe what it says of who asks. Asked for at each request. */
  readonly frontProxy?: (() => ClientPair | undefined) | undefined;
  readonly metrics?: Metrics;
}

export interface Aggregation {
  /** Answer what is for others to answer. */
  readonly stages: readonly Stage[];
  readonly discovery: RemoteDiscovery;
  /** Whether it is known which there are. */
  readonly isFollowing: boolean;
  /** Finds out which of them are there, until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

function watched({ metrics }: AggregationOptions): { readonly onLook?: AvailabilityObserver } {
  return metrics === undefined ? {} : { onLook: availabilityMetrics(metrics) };
}

export function createAggregation(workshop: Workshop, options: AggregationOptions = {}): Aggregation {
  const { store, registry, egress, loop } = workshop;
  const { frontProxy = () => undefined } = options;
  const apis = new RemoteApis(store, registry.builtInVersions);
  const discovery = new RemoteDiscovery(apis);
  const upkeep = new RemoteApiUpkeep({ workshop, apis, discovery, egress, frontProxy, ...watched(options) });
  const relay = new Relay({ egress, loop });
  const onUnreached = ({ name }: RemoteApi): void => upkeep.suspect(name);
  return {
    stages: [aggregate({ apis, egress, relay, frontProxy, onUnreached }), proxyObjects(workshop, relay)],
    discovery,
    get isFollowing() {
      return upkeep.isFollowing;
    },
    async run(signal) {
      try {
        await upkeep.run(signal);
      } finally {
        egress.close();
      }
    },
  };
}
