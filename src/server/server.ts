/** The API server: everything behind one handler. Who calls it (sockets, or this process) is not its business. */
import type { Log } from "../base/log.ts";
import type { Loop } from "../base/loop.ts";
import type { Metrics } from "../base/metrics.ts";
import type { KindDefinition } from "../resources/kind-rules.ts";
import type { Store } from "../store/store.ts";
import type { AdmissionOptions } from "./admission/plugins.ts";
import { builtInAdmission, isQuotaOff } from "./admission/plugins.ts";
import { withQuotas } from "./admission/quota/companion.ts";
import type { PortRange } from "./allocation/port-ledger.ts";
import { allocationCompanions } from "./allocation/service-companion.ts";
import { alwaysAllow } from "./authz/always-allow.ts";
import type { Workshop } from "./call.ts";
import { withCustomCompanions } from "./custom/custom-companion.ts";
import { CustomDefinitions } from "./custom/custom-definitions.ts";
import { CustomKinds } from "./custom/custom-kinds.ts";
import { discoverySite } from "./discovery/discovery.ts";
import { healthSite } from "./health.ts";
import type { HttpHandler } from "./http.ts";
import { Journal, SERVER_AUTHOR } from "./journal.ts";
import { MetricsKinds } from "./metrics-api/metrics-kinds.ts";
import type { UsageSource } from "./metrics-api/usage-source.ts";
import { metricsSite } from "./metrics-site.ts";
import { Versions } from "./objects.ts";
import type { Conversions } from "./objects.ts";
import { openApiSite } from "./openapi/openapi.ts";
import { pipeline } from "./pipeline.ts";
import type { TokenKeys } from "./pki/pki-folder.ts";
import { Registry } from "./registry.ts";
import type { ServedVersions } from "./registry.ts";
import { FormCache } from "./representation/form-cache.ts";
import { RequestTally } from "./request-tally.ts";
import { tokenIssuer } from "./subresources/token-issuer.ts";

export interface ApiServerOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly kinds: readonly KindDefinition[];
  readonly conversions: Conversions;
  readonly isServed?: ServedVersions;
  /** With which tokens of service accounts are signed; asked for at the first token. */
  readonly tokenKeys: () => TokenKeys;
  readonly nodePorts: PortRange;
  readonly admission?: AdmissionOptions | undefined;
  /** What pods and nodes use; without it `metrics.k8s.io` is not served. */
  readonly usage?: UsageSource | undefined;
}

export interface ApiServer {
  readonly handler: HttpHandler;
  readonly workshop: Workshop;
  /** Keeps the definitions of custom resources: establishes them, and clears up after those that are deleted. */
  readonly definitions: CustomDefinitions;
}

export function createApiServer({
  loop,
  log,
  metrics,
  store,
  kinds,
  conversions,
  isServed,
  tokenKeys,
  nodePorts,
  admission,
  usage,
}: ApiServerOptions): ApiServer {
  const versions = new Versions(conversions);
  const custom = new CustomKinds(store);
  const registry = new Registry(kinds, isServed, {
    conversions: versions,
    custom: usage === undefined ? custom : new MetricsKinds(custom),
  });
  const allocations = allocationCompanions({ loop, store, registry, versions, nodePorts });
  const others = withCustomCompanions(allocations, store);
  const companions = isQuotaOff(admission) ? others : withQuotas(others, { loop, store });
  const workshop: Workshop = {
    loop,
    log,
    store,
    registry,
    versions,
    companions,
    admission: builtInAdmission({ loop, store }, admission),
    authorizer: alwaysAllow,
    tokens: tokenIssuer(tokenKeys),
    journal: new Journal(),
    tally: new RequestTally(),
    author: SERVER_AUTHOR,
    ...(usage !== undefined && { usage }),
  };
  const storeCheck = { name: "etcd", check: () => store.health().reason };
  const ping = { name: "ping", check: () => undefined };
  const sites = [
    healthSite({ livez: [ping], readyz: [ping, storeCheck] }),
    discoverySite(registry),
    openApiSite(registry, loop),
    metricsSite(metrics, workshop),
  ];
  const tools = { loop, versions: workshop.versions, cache: new FormCache() };
  const definitions = new CustomDefinitions(workshop, custom);
  return { handler: pipeline({ workshop, metrics, tools, sites }), workshop, definitions };
}
