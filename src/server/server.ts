/** The API server behind one handler, independent of its callers: sockets or this process. */
import type { Secret } from "../api/generated/types/core-v1.ts";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import type { Metrics } from "../base/metrics/metrics.ts";
import type { KindDefinition } from "../resources/rules/kind-rules.ts";
import type { Store } from "../store/store.ts";
import { createAuthenticators, createBearerTokens } from "./access/authn/create-authentication.ts";
import type { AuthenticationOptions } from "./access/authn/create-authentication.ts";
import { issuerRoute } from "./access/authn/issuer-route.ts";
import { tokenIssuer } from "./access/authn/token-issuer.ts";
import type { AuthorizerOptions } from "./access/authz/authorization-options.ts";
import type { Authorizer } from "./access/authz/authorizer.ts";
import { createAuthorization } from "./access/authz/create-authorizer.ts";
import type { NodeGraph } from "./access/authz/node/node-graph.ts";
import type { AdmissionOptions } from "./admission/plugins.ts";
import { builtInAdmission, isQuotaOff } from "./admission/plugins.ts";
import { policyPlugins } from "./admission/policy/policy-plugins.ts";
import { webhookPlugins } from "./admission/webhook/webhook-plugins.ts";
import { createAggregation } from "./aggregation/create-aggregation.ts";
import type { Aggregation, AggregationOptions } from "./aggregation/create-aggregation.ts";
import { customCompanion } from "./custom/custom-companion.ts";
import { CustomKinds } from "./custom/custom-kinds.ts";
import { createEgress } from "./egress/create-egress.ts";
import type { Encryption } from "./objects/encryption/encryption.ts";
import { Registry } from "./objects/registry.ts";
import type { ServedVersions } from "./objects/registry.ts";
import { SelectionIndexes } from "./objects/selection/selection-indexes.ts";
import { ObjectStore } from "./objects/stored/object-store.ts";
import { ValueReader } from "./objects/stored/value-reader.ts";
import { Versions } from "./objects/versions.ts";
import type { Conversions } from "./objects/versions.ts";
import { pipeline } from "./pipeline.ts";
import type { TokenKeys } from "./pki/pki-folder.ts";
import { FormCache } from "./representation/form-cache.ts";
import { WatchBatcher } from "./representation/watch-feed.ts";
import type { HttpHandler } from "./request/http.ts";
import { UNPACED } from "./request/pace.ts";
import { RequestCounts } from "./request/request-counts.ts";
import { discoveryRoute } from "./routes/discovery/discovery.ts";
import { healthChecks } from "./routes/health/health-checks.ts";
import type { Vitals } from "./routes/health/health-checks.ts";
import { healthRoute } from "./routes/health/health.ts";
import { metricsRoute } from "./routes/metrics.ts";
import { openApiRoute } from "./routes/openapi/openapi.ts";
import type { AuditTrail } from "./stages/audit/audit-trail.ts";
import { createFairness, DEFAULT_FAIRNESS } from "./stages/fairness/create-fairness.ts";
import type { FairnessOptions } from "./stages/fairness/create-fairness.ts";
import type { BootProgress } from "./upkeep/boot-steps.ts";
import { CustomDefinitions } from "./upkeep/definitions/definitions.ts";
import { TokenUses } from "./upkeep/token-use.ts";
import { MetricsKinds } from "./verbs/metrics-api/metrics-kinds.ts";
import type { UsageSource } from "./verbs/metrics-api/usage-source.ts";
import { ListCounts } from "./verbs/read/list-counts.ts";
import type { VerbParts } from "./verbs/verb.ts";
import { OpenSelectors } from "./verbs/watch/open-selectors.ts";
import { defaultPriorityClassCompanion } from "./write/companions/default-priority-class.ts";
import type { PortRange } from "./write/companions/port-allocation.ts";
import { quotaCompanion } from "./write/companions/quota.ts";
import { serviceCompanion } from "./write/companions/service-companion.ts";
import { Journal, SERVER_AUTHOR } from "./write/journal.ts";

export interface ApiServerOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  /** Encryption at rest; no resource is encrypted by default. */
  readonly encryption?: Encryption | undefined;
  readonly kinds: readonly KindDefinition[];
  readonly conversions: Conversions;
  readonly isServed?: ServedVersions;
  /** Keys that sign service account tokens; called at the first token. */
  readonly tokenKeys: () => TokenKeys;
  /** Ways of authentication; by default as kubeadm configures a server. */
  readonly authentication?: AuthenticationOptions | undefined;
  readonly nodePorts: PortRange;
  /** Client certificate that identifies this server to aggregated API servers. */
  readonly frontProxy?: AggregationOptions["frontProxy"];
  readonly admission?: AdmissionOptions | undefined;
  /** Authorizers in order; by default Node and RBAC. */
  readonly authorization?: readonly AuthorizerOptions[] | undefined;
  /** Limits on requests in flight; by default as in kube-apiserver. */
  readonly fairness?: FairnessOptions | undefined;
  /** Resource usage of pods and nodes; without it `metrics.k8s.io` is not served. */
  readonly usage?: UsageSource | undefined;
  /** Audit log; none by default. */
  readonly audit?: AuditTrail | undefined;
  /** Startup steps beside the server itself; without it health checks report no startup step at all. */
  readonly boot?: BootProgress;
  /** Whether the process is shutting down, so that health checks report it as not ready. */
  readonly isEnding?: () => boolean;
}

export interface ApiServer {
  readonly handler: HttpHandler;
  readonly verbParts: VerbParts;
  /** Set when the Node authorizer is enabled. */
  readonly nodeGraph?: NodeGraph;
  /** Establishes definitions of custom resources, and cleans up after deleted ones. */
  readonly definitions: CustomDefinitions;
  /** Follows the APIs of aggregated servers. */
  readonly aggregation: Pick<Aggregation, "run" | "isFollowing">;
}

export function createApiServer(options: ApiServerOptions): ApiServer {
  const {
    loop,
    log,
    metrics,
    authentication,
    authorization,
    frontProxy,
    audit,
    boot,
    isEnding = () => false,
  } = options;
  const { verbParts, custom, nodeGraph } = createVerbParts(options);
  const { registry, versions, tokens, bearers } = verbParts;
  const fairness = createFairness(verbParts, metrics, options.fairness ?? DEFAULT_FAIRNESS);
  const aggregation = createAggregation(verbParts, { frontProxy, metrics });
  const definitions = new CustomDefinitions(verbParts, custom);
  const routes = [
    ...fairness.routes,
    healthRoute(
      healthChecks({ store: verbParts.store, isEnding, ...startOf({ definitions, aggregation }, boot) }),
    ),
    discoveryRoute(registry, aggregation.discovery),
    issuerRoute(tokens),
    openApiRoute(registry, loop, aggregation.discovery),
    metricsRoute(metrics, verbParts),
  ];
  const handler = pipeline({
    verbParts,
    metrics,
    tools: { loop, versions, cache: new FormCache(), batcher: new WatchBatcher(loop) },
    routes,
    fairness,
    authenticators: createAuthenticators(
      { tokens: bearers, authorizers: authorization, log },
      authentication,
    ),
    relays: aggregation.stages,
    audit,
  });
  return { handler, verbParts, definitions, aggregation, ...(nodeGraph !== undefined && { nodeGraph }) };
}

/**
 * Readiness of definitions and aggregated APIs. The process that runs the server starts both, so they are reported only
 * with `boot`.
 */
function startOf(
  { definitions, aggregation }: Pick<ApiServer, "definitions" | "aggregation">,
  boot: BootProgress | undefined,
): Pick<Vitals, "boot" | "followed"> {
  if (boot === undefined) return { boot: {}, followed: {} };
  const areDefinitionsRead = (): boolean => definitions.isFollowing;
  const areApisRead = (): boolean => aggregation.isFollowing;
  return {
    boot: { ...boot, definitions: areDefinitionsRead, aggregation: areApisRead },
    followed: {
      "*v1.CustomResourceDefinition": areDefinitionsRead,
      "*v1.APIService": areApisRead,
    },
  };
}

interface Made {
  readonly verbParts: VerbParts;
  readonly custom: CustomKinds;
  readonly nodeGraph: NodeGraph | undefined;
}

function createVerbParts(options: ApiServerOptions): Made {
  const { loop, log, metrics, admission, authentication, usage } = options;
  const versions = new Versions(options.conversions);
  const store = createObjectStore(options, versions);
  const egress = createEgress({ loop, store });
  const custom = new CustomKinds(store, { loop, egress });
  const registry = new Registry(options.kinds, options.isServed, {
    conversions: versions,
    custom: usage === undefined ? custom : new MetricsKinds(custom),
  });
  const { nodePorts } = options;
  const companions = [
    defaultPriorityClassCompanion(store),
    serviceCompanion({ loop, store, registry, versions, nodePorts }),
    customCompanion(store),
    ...(isQuotaOff(admission) ? [] : [quotaCompanion({ loop, store })]),
  ];
  const tokens = tokenIssuer(options.tokenKeys, authentication?.tokens);
  const access = createAuthorization({ loop, store, egress }, options.authorization);
  const authorizer = (): Authorizer => access.authorizer;
  const policies = policyPlugins({ store, registry, versions, authorizer });
  const webhooks = webhookPlugins({ loop, store, registry, versions, egress, metrics, authorizer });
  const uses = new TokenUses(() => verbParts);
  const onSecretUse = (secret: Secret): void => uses.note(secret);
  const verbParts: VerbParts = {
    loop,
    log,
    store,
    unreadable: (prefix) => store.unreadable(prefix),
    readyToList: (prefix) => store.ready(prefix, () => turnOf(loop)),
    indexes: new SelectionIndexes({ loop, metrics }),
    listCounts: new ListCounts(metrics),
    registry,
    versions,
    companions,
    admission: builtInAdmission(
      { loop, store, registry, policies, webhooks, authorizer: access.authorizer, roles: access.roles },
      admission,
    ),
    authorizer: access.authorizer,
    egress,
    tokens,
    bearers: createBearerTokens({ loop, store, registry, tokens, egress, onSecretUse }, authentication),
    journal: new Journal(),
    tally: new RequestCounts(),
    selectors: new OpenSelectors(),
    author: SERVER_AUTHOR,
    writer: "server",
    pace: UNPACED,
    ...(usage !== undefined && { usage }),
  };
  return { verbParts, custom, nodeGraph: access.nodeGraph };
}

function createObjectStore(
  { store, log, kinds, encryption }: ApiServerOptions,
  versions: Versions,
): ObjectStore {
  return new ObjectStore({ store, log, encryption, reader: new ValueReader({ versions, kinds }) });
}

/** Resolves after all steps that are already queued. */
function turnOf(loop: Loop): Promise<void> {
  return new Promise((resolve) => loop.post("request", resolve));
}
