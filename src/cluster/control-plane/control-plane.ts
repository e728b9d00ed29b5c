/** Runs an API server and its loops in one process, over a store that is already open. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { createClient } from "../../client/api-client.ts";
import type { Client } from "../../client/client.ts";
import { conversions, kinds } from "../../resources/index.ts";
import { CacheSet } from "../../runtime/cache/cache-set.ts";
import { runAll } from "../../runtime/manager/run-all.ts";
import type { AuthenticationOptions } from "../../server/access/authn/create-authentication.ts";
import type { AuthorizerOptions } from "../../server/access/authz/authorization-options.ts";
import type { AdmissionOptions } from "../../server/admission/plugins.ts";
import type { AggregationOptions } from "../../server/aggregation/create-aggregation.ts";
import type { Encryption } from "../../server/objects/encryption/encryption.ts";
import { isStored } from "../../server/objects/registry.ts";
import { prefixOf } from "../../server/objects/versions.ts";
import type { TokenKeys } from "../../server/pki/pki-folder.ts";
import type { HttpHandler, PeerIdentity } from "../../server/request/http.ts";
import { createApiServer } from "../../server/server.ts";
import type { ApiServer } from "../../server/server.ts";
import type { AuditTrail } from "../../server/stages/audit/audit-trail.ts";
import type { FairnessOptions } from "../../server/stages/fairness/create-fairness.ts";
import type { BootProgress, BootStep } from "../../server/upkeep/boot-steps.ts";
import { createUpkeep } from "../../server/upkeep/create-upkeep.ts";
import type { UpkeepOptions } from "../../server/upkeep/create-upkeep.ts";
import type { Upkeep } from "../../server/upkeep/upkeep.ts";
import type { UsageSource } from "../../server/verbs/metrics-api/usage-source.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Store } from "../../store/store.ts";
import { servedVersions } from "../files/runtime-config.ts";
import { actorIdentity, groupIdentity } from "../loops/loop-identities.ts";
import { isEmptyGroup, manage } from "../loops/loops.ts";
import type { LoopGroup } from "../loops/loops.ts";
import type { PortRange } from "../options.ts";
import { abortableTransport } from "./abortable-transport.ts";
import { inProcessTransport } from "./in-process-transport.ts";
import type { InProcessTransport } from "./in-process-transport.ts";

export interface ControlPlaneOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  /** Whether other servers use the same store. */
  readonly isStoreShared: boolean;
  readonly tokenKeys: () => TokenKeys;
  /** Accepted credentials; default: client certificates and service account tokens. */
  readonly authentication?: AuthenticationOptions | undefined;
  /** Authorizers of requests; default: Node and RBAC. */
  readonly authorization?: readonly AuthorizerOptions[] | undefined;
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
  readonly serviceCidrs: readonly string[];
  readonly nodePorts: PortRange;
  /** Admission plugins to turn on or off; default: all of them on. */
  readonly admission?: AdmissionOptions | undefined;
  /** Limits of concurrent requests and their fair sharing; default: kube-apiserver's. */
  readonly fairness?: FairnessOptions | undefined;
  /** Source of the resource usage of pods and nodes; undefined when this process has none. */
  readonly usage?: UsageSource | undefined;
  /** Audit log; undefined turns it off. */
  readonly audit?: AuditTrail | undefined;
  /** CAs and names that aggregated API servers may trust; undefined without sockets. */
  readonly vouchers?: UpkeepOptions["vouchers"];
  /** Name of the machine, for the server's own identity Lease; undefined for a server without one. */
  readonly hostname?: string | undefined;
  /** Encryption of stored resources; default none. */
  readonly encryption?: Encryption | undefined;
  /** Client certificate that proves to aggregated API servers that the server speaks for its users; default none. */
  readonly frontProxy?: AggregationOptions["frontProxy"];
  /** Whether values handed out in the process are frozen. */
  readonly freezes: boolean;
}

/** Address of the server for clients outside the process. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly machineAddresses: readonly string[];
}

interface LoopEnds {
  /** Aborts to stop the loops. */
  readonly signal: AbortSignal;
  /** Aborts to cut the loops off from the server. */
  readonly cut: AbortSignal;
}

/** Identity of the loops that a program adds: they have all rights. */
const PROGRAM: PeerIdentity = { user: "kubernetes-admin", groups: ["system:masters"] };

export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  readonly #server: ApiServer;
  #upkeep: Upkeep | undefined;
  #isEnding = false;

  constructor(options: ControlPlaneOptions) {
    const { loop, log, metrics, store, tokenKeys, nodePorts, runtimeConfig, admission, usage } = options;
    this.#options = options;
    this.#server = createApiServer({
      loop: loop.child("server"),
      log,
      metrics,
      store,
      encryption: options.encryption,
      kinds,
      conversions,
      tokenKeys,
      authentication: options.authentication,
      authorization: options.authorization,
      nodePorts,
      isServed: servedVersions(runtimeConfig),
      admission,
      usage,
      audit: options.audit,
      frontProxy: options.frontProxy,
      fairness: options.fairness,
      boot: this.#boot(),
      isEnding: () => this.#isEnding,
    });
  }

  get handler(): HttpHandler {
    return this.#server.handler;
  }

  /** Transport for a client in this process. Responses arrive as steps of the client's loop. */
  transport(user: PeerIdentity, loop: Loop): InProcessTransport {
    const { freezes } = this.#options;
    const { handler, verbParts } = this.#server;
    return inProcessTransport({ handler, loop, serverLoop: verbParts.loop, user, freezes });
  }

  /** Runs loops until the signal aborts, with caches of their own, like a separate program. */
  async runLoops(name: string, group: LoopGroup, { signal, cut }: LoopEnds): Promise<void> {
    const { log, metrics } = this.#options;
    const loop = this.#options.loop.child(name);
    const transport = abortableTransport(this.transport(PROGRAM, loop), cut);
    try {
      await manage(group, { transport, loop, log, metrics }).run(signal);
    } finally {
      await transport.close();
    }
  }

  /** Runs several groups that share their caches; each has its own leader election. */
  async runBuiltIn(
    groups: Readonly<Record<string, LoopGroup>>,
    signal: AbortSignal,
    identity?: string,
  ): Promise<void> {
    const { log, metrics } = this.#options;
    const instance = identity === undefined ? {} : { identity };
    const loop = this.#options.loop.child("loops");
    const transport = this.transport(groupIdentity("controllers"), loop);
    const caches = new CacheSet({ transport, loop: loop.child("caches"), log, metrics });
    const filled = Object.entries(groups).filter(([, group]) => !isEmptyGroup(group));
    const managers = filled.map(([name, group]) => {
      const own = loop.child(name);
      const clientOf = (user: PeerIdentity): Client =>
        createClient(transport.actingAs(user), { loop: own, retry: "none" });
      const client = clientOf(groupIdentity(name));
      const clientAs = (actor: string): Client => clientOf(actorIdentity(name, actor));
      return manage(group, { transport, caches, client, clientAs, loop: own, log, metrics, ...instance });
    });
    const tasks = managers.map((manager) => (each: AbortSignal) => manager.run(each));
    try {
      await runAll(signal, [...tasks, (each) => caches.run(each)]);
    } finally {
      await transport.close();
    }
  }

  /** Objects that are stored now, ordered by namespace and name, in the version that the type names. */
  objects({ apiVersion, plural }: ResourceType, namespace: string): readonly ApiObject[] {
    const { store, registry, versions } = this.#server.verbParts;
    const slash = apiVersion.indexOf("/");
    const place = { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
    const resource = registry.find({ ...place, resource: plural });
    if (resource === undefined || !isStored(resource))
      throw new Error(`${plural} of ${apiVersion} are not stored`);
    const prefix = prefixOf(resource, namespace);
    const entries = [...store.view.range(prefix, prefixEnd(prefix))];
    return entries.map((entry) => versions.entry(entry, resource));
  }

  /** Creates the objects that clients expect of a server; the server is not ready before. */
  async settle({ host, port, machineAddresses }: ServerAddress): Promise<void> {
    const { serviceCidrs, isStoreShared, nodePorts, vouchers, hostname } = this.#options;
    const house = {
      serviceCidrs,
      nodePorts,
      host,
      port,
      machineAddresses,
      isStoreShared,
      vouchers,
      hostname,
      nodeGraph: this.#server.nodeGraph,
    };
    this.#upkeep = createUpkeep(this.#server.verbParts, house);
    await this.#upkeep.settle();
  }

  #boot(): BootProgress {
    const { vouchers, hostname } = this.#options;
    const isDone = (step: BootStep): boolean => this.#upkeep?.isDone(step) === true;
    return {
      house: isDone,
      ...(vouchers !== undefined && { trust: isDone }),
      ...(hostname !== undefined && { ownServer: isDone }),
    };
  }

  /** Runs the server's background tasks until the signal aborts. Resolves when all have ended; rejects when one fails. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => {
      this.#isEnding = true;
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    await Promise.all([
      this.#upkeep?.run(signal),
      this.#server.definitions.run(signal),
      this.#server.aggregation.run(signal),
    ]);
  }
}
