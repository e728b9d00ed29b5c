/** Creates all parts of API aggregation. */
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { ClientPair } from "../egress/egress.ts";
import type { Stage } from "../request/exchange.ts";
import { aggregate } from "./aggregation.ts";
import { availabilityMetrics } from "./availability-metrics.ts";
import { proxyObjects } from "./object-proxy.ts";
import type { ProxyParts } from "./object-proxy.ts";
import type { RemoteParts } from "./remote-api-upkeep.ts";
import { RemoteApiUpkeep } from "./remote-api-upkeep.ts";
import { RemoteApis } from "./remote-apis.ts";
import type { RemoteApi } from "./remote-apis.ts";
import { RemoteDiscovery } from "./remote-discovery.ts";

export type CreateAggregationParts = RemoteParts & Pick<ProxyParts, "relay" | "link">;

export interface AggregationOptions {
  /** Client certificate towards extension servers, which then trust the identity headers. Read at each request. */
  readonly frontProxy?: (() => ClientPair | undefined) | undefined;
}

export interface Aggregation {
  /** Relays requests for the APIs of extension servers. */
  readonly relayStage: Stage;
  /** Connects requests for the subresource `proxy` to pods, Services and nodes. */
  readonly proxyStage: Stage;
  readonly discovery: RemoteDiscovery;
  /** Whether the existing APIServices have been read. */
  readonly isFollowing: boolean;
  /** Checks the extension servers until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export function createAggregation(
  verbParts: CreateAggregationParts,
  metrics: Metrics,
  options: AggregationOptions = {},
): Aggregation {
  const { store, registry, egress, relay } = verbParts;
  const { frontProxy = () => undefined } = options;
  const apis = new RemoteApis(store, registry.builtInVersions);
  const discovery = new RemoteDiscovery(apis);
  const onLook = availabilityMetrics(metrics);
  const upkeep = new RemoteApiUpkeep({ verbParts, apis, discovery, egress, frontProxy, onLook });
  const onUnreached = ({ name }: RemoteApi): void => upkeep.suspect(name);
  return {
    relayStage: aggregate({ apis, egress, relay, frontProxy, onUnreached }),
    proxyStage: proxyObjects(verbParts),
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
