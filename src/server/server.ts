/** The API server behind one handler, independent of its callers: sockets or this process. */
import type { ApiObject, ResourceType } from "../api/api-object.ts";
import type { Loop } from "../base/loop/loop.ts";
import { conversions, kinds } from "../resources/index.ts";
import { prefixEnd } from "../store/store.ts";
import type { Authenticator } from "./access/authn/authenticator.ts";
import type { BearerTokens } from "./access/authn/bearer-tokens.ts";
import { createAuthenticators, createBearerTokens } from "./access/authn/create-authentication.ts";
import { issuerRoute } from "./access/authn/issuer-route.ts";
import { SecretUses } from "./access/authn/secret-uses.ts";
import { tokenIssuer } from "./access/authn/token-issuer.ts";
import type { TokenIssuer } from "./access/authn/token-issuer.ts";
import { createAuthorization } from "./access/authz/create-authorizer.ts";
import type { Authorization } from "./access/authz/create-authorizer.ts";
import type { Admission } from "./admission/admission.ts";
import { builtInAdmission, isQuotaOff } from "./admission/plugins.ts";
import { policyPlugins } from "./admission/policy/policy-plugins.ts";
import { webhookPlugins } from "./admission/webhook/webhook-plugins.ts";
import { createAggregation } from "./aggregation/create-aggregation.ts";
import type { Aggregation } from "./aggregation/create-aggregation.ts";
import { customCompanion } from "./custom/custom-companion.ts";
import { CustomKinds } from "./custom/custom-kinds.ts";
import { createEgress } from "./egress/create-egress.ts";
import type { OpenEgress } from "./egress/create-egress.ts";
import { connectPods } from "./nodes/connect-pods.ts";
import { NodeLink } from "./nodes/node-link.ts";
import { NodeUsage } from "./nodes/node-usage.ts";
import { OwnKinds } from "./objects/own-kinds.ts";
import { isStored, Registry } from "./objects/registry.ts";
import { SelectionIndexes } from "./objects/selection/selection-indexes.ts";
import { ObjectStore } from "./objects/stored/object-store.ts";
import { ValueReader } from "./objects/stored/value-reader.ts";
import { prefixOf, Versions } from "./objects/versions.ts";
import type { ServerOptions } from "./options.ts";
import { pipeline } from "./pipeline.ts";
import { Relay } from "./relay/relay.ts";
import { FormCache } from "./representation/form-cache.ts";
import { WatchBatcher } from "./representation/watch-feed.ts";
import type { Route } from "./request/exchange.ts";
import type { HttpHandler } from "./request/http.ts";
import { RequestCounts } from "./request/request-counts.ts";
import { discoveryRoute } from "./routes/discovery/discovery.ts";
import { healthChecks } from "./routes/health/health-checks.ts";
import { healthRecord } from "./routes/health/health-record.ts";
import { healthRoute } from "./routes/health/health.ts";
import { metricsRoute } from "./routes/metrics.ts";
import { openApiRoute } from "./routes/openapi/openapi.ts";
import { statuszRoute } from "./routes/statusz.ts";
import { createFairness } from "./stages/fairness/create-fairness.ts";
import type { Fairness } from "./stages/fairness/create-fairness.ts";
import type { Surroundings } from "./surroundings.ts";
import { createUpkeep } from "./upkeep/create-upkeep.ts";
import type { ServerAddress } from "./upkeep/create-upkeep.ts";
import { CustomDefinitions } from "./upkeep/definitions/definitions.ts";
import { ServerRun } from "./upkeep/server-run.ts";
import { TokenUses } from "./upkeep/token-use.ts";
import { causesKinds } from "./verbs/causes-api/causes-facts.ts";
import { KeyPlaces } from "./verbs/causes-api/key-places.ts";
import { metricsKinds } from "./verbs/metrics-api/metrics-facts.ts";
import { totalUsage } from "./verbs/metrics-api/metrics-objects.ts";
import { ListCounts } from "./verbs/read/list-counts.ts";
import type { VerbParts } from "./verbs/verb.ts";
import { OpenSelectors } from "./verbs/watch/open-selectors.ts";
import type { Companion } from "./write/companions/companion.ts";
import { defaultPriorityClassCompanion } from "./write/companions/default-priority-class.ts";
import { DEFAULT_NETWORK } from "./write/companions/network-options.ts";
import { quotaCompanion } from "./write/companions/quota.ts";
import { serviceCompanion } from "./write/companions/service-companion.ts";
import { Journal } from "./write/journal.ts";

export interface ApiServer {
  readonly handler: HttpHandler;
  /** Recent writes of this server. */
  readonly journal: Journal;
  /** Objects that are stored now, ordered by namespace and name, in the version that the type names. */
  objects(type: ResourceType, namespace: string): readonly ApiObject[];
  /** Creates the objects that clients expect of a server; the server is not ready before. */
  settle(address: ServerAddress): Promise<void>;
  /** Runs the server's background tasks until the signal aborts. Resolves when all have ended; rejects when one fails. */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates the parts floor by floor. Each function takes what the floors below it answered. */
export function createApiServer(surroundings: Surroundings, options: ServerOptions): ApiServer {
  const objects = createObjects(surroundings, options);
  const { loop, log, metrics, egress, versions, relay, link } = objects;
  const access = createAccess(objects, options);
  const admission = createAdmission(objects, access, options);
  const parts = createVerbParts({ ...objects, ...access, admission }, options);
  const aggregation = createAggregation({ ...parts, log, egress, relay, link }, metrics, options.aggregation);
  const run = createRun({ ...objects, ...access, parts, aggregation }, options);
  const fairness = createFairness(objects, metrics, options.fairness);
  const handler = pipeline({
    verbParts: parts,
    log,
    egress,
    metrics,
    tools: { loop, versions, cache: new FormCache(), batcher: new WatchBatcher(loop) },
    routes: createRoutes({ ...objects, parts, aggregation, run, fairness }),
    fairness,
    authenticators: access.authenticators,
    relayStage: aggregation.relayStage,
    connectionStages: [aggregation.proxyStage, connectPods({ ...parts, relay, link })],
    audit: options.audit,
  });
  return {
    handler,
    journal: parts.journal,
    objects: (type, namespace) => storedObjects(objects, type, namespace),
    settle: (address) => run.settle(address),
    run: (signal) => run.run(signal),
  };
}

/** Stored objects, served kinds and the way to other servers. */
interface Objects extends Surroundings {
  readonly store: ObjectStore;
  readonly versions: Versions;
  readonly registry: Registry;
  readonly custom: CustomKinds;
  readonly egress: OpenEgress;
  readonly relay: Relay;
  /** Leads to kubelets. */
  readonly link: NodeLink;
}

function createObjects(surroundings: Surroundings, options: ServerOptions): Objects {
  const { loop, log } = surroundings;
  const { encryption, isServed, usage } = options;
  const versions = new Versions(conversions);
  const reader = new ValueReader({ versions, kinds });
  const store = new ObjectStore({ store: surroundings.store, log, encryption, reader });
  const egress = createEgress({ loop, store });
  const custom = new CustomKinds(store, { loop, egress });
  const registry = new Registry(kinds, isServed, {
    conversions: versions,
    custom: new OwnKinds(custom, [causesKinds(), ...(usage === undefined ? [] : [metricsKinds(totalUsage)])]),
  });
  const relay = new Relay({ egress, loop });
  const link = new NodeLink({ store, egress }, options.nodes);
  return { ...surroundings, store, versions, registry, custom, egress, relay, link };
}

/** Who asks, and what they may do. */
interface Access extends Authorization {
  readonly tokens: TokenIssuer;
  readonly bearers: BearerTokens;
  readonly secretUses: SecretUses;
  readonly authenticators: readonly Authenticator[];
}

function createAccess(objects: Objects, options: ServerOptions): Access {
  const { authentication, authorization } = options;
  const { log } = objects;
  const tokens = tokenIssuer(options.tokenKeys, authentication?.tokens);
  const secretUses = new SecretUses();
  const bearers = createBearerTokens(
    { ...objects, tokens, onSecretUse: (secret) => secretUses.report(secret) },
    authentication,
  );
  const authenticators = createAuthenticators(
    { tokens: bearers, authorizers: authorization, log },
    authentication,
  );
  return { ...createAuthorization(objects, authorization), tokens, bearers, secretUses, authenticators };
}

function createAdmission(
  objects: Objects,
  { authorizer, roles }: Access,
  { admission }: ServerOptions,
): Admission {
  const parts = { ...objects, authorizer };
  const policies = policyPlugins(parts);
  const webhooks = webhookPlugins(parts);
  return builtInAdmission({ ...parts, roles, policies, webhooks }, admission);
}

type VerbFloors = Objects & Access & { readonly admission: Admission };

function createVerbParts(floors: VerbFloors, options: ServerOptions): VerbParts {
  const { loop, metrics, store, registry, versions } = floors;
  const { authorizer, tokens, bearers, admission } = floors;
  return {
    loop,
    store,
    unreadable: (prefix) => store.unreadable(prefix),
    readyToList: (prefix) => store.ready(prefix, () => turnOf(loop)),
    indexes: new SelectionIndexes({ loop, metrics }),
    listCounts: new ListCounts(metrics),
    registry,
    versions,
    companions: createCompanions(floors, options),
    admission,
    authorizer,
    tokens,
    bearers,
    journal: new Journal(store.view.revision, options.journal),
    places: new KeyPlaces(registry),
    tally: new RequestCounts(metrics),
    selectors: new OpenSelectors(),
    ...(options.usage !== undefined && { usage: new NodeUsage({ ...floors, own: options.usage }) }),
  };
}

/** Quotas come last: they count what the others allocate. */
function createCompanions(
  { loop, store, registry, versions }: Objects,
  { admission, network = DEFAULT_NETWORK }: ServerOptions,
): readonly Companion[] {
  const { nodePorts } = network;
  return [
    defaultPriorityClassCompanion(store),
    serviceCompanion({ loop, store, registry, versions, nodePorts }),
    customCompanion(store),
    ...(isQuotaOff(admission) ? [] : [quotaCompanion({ loop, store })]),
  ];
}

/** Resolves after all steps that are already queued. */
function turnOf(loop: Loop): Promise<void> {
  return new Promise((resolve) => loop.post("request", resolve));
}

type RunFloors = Pick<Objects, "log" | "custom"> &
  Pick<Access, "nodeGraph" | "secretUses"> & { readonly parts: VerbParts; readonly aggregation: Aggregation };

function createRun(floors: RunFloors, { network = DEFAULT_NETWORK, upkeep }: ServerOptions): ServerRun {
  const { log, custom, nodeGraph, secretUses, aggregation } = floors;
  const parts = { ...floors.parts, log };
  const uses = new TokenUses(parts);
  secretUses.onUse((secret) => uses.note(secret));
  const run = {
    definitions: new CustomDefinitions(parts, custom),
    aggregation,
    createUpkeep: (address: ServerAddress) =>
      createUpkeep(parts, { ...upkeep, ...network, ...address, nodeGraph }),
  };
  return new ServerRun(run, upkeep);
}

type RouteFloors = Objects & {
  readonly parts: VerbParts;
  readonly aggregation: Aggregation;
  readonly run: ServerRun;
  readonly fairness: Fairness;
};

function createRoutes(floors: RouteFloors): readonly Route[] {
  const { store, registry, loop, metrics, parts, aggregation, run, fairness } = floors;
  const health = healthRecord();
  return [
    ...fairness.routes,
    healthRoute(healthChecks({ store, run }), health.record),
    health.route,
    statuszRoute(loop),
    discoveryRoute(registry, aggregation.discovery),
    issuerRoute(parts.tokens),
    openApiRoute(registry, loop, aggregation.discovery),
    metricsRoute(metrics, parts),
  ];
}

function storedObjects(
  { store, registry, versions }: Objects,
  { apiVersion, plural }: ResourceType,
  namespace: string,
): readonly ApiObject[] {
  const slash = apiVersion.indexOf("/");
  const place = { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
  const resource = registry.find({ ...place, resource: plural });
  if (resource === undefined || !isStored(resource))
    throw new Error(`${plural} of ${apiVersion} are not stored`);
  const prefix = prefixOf(resource, namespace);
  const entries = [...store.view.range(prefix, prefixEnd(prefix))];
  return entries.map((entry) => versions.entry(entry, resource));
}
