/** A server with everything that runs beside it in one process, over a store that is open already. */
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
import type { HouseOptions } from "../../server/upkeep/create-upkeep.ts";
import type { Upkeep } from "../../server/upkeep/upkeep.ts";
import type { UsageSource } from "../../server/verbs/metrics-api/usage-source.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Store } from "../../store/store.ts";
import { servedVersions } from "../files/runtime-config.ts";
import { actorIdentity, groupIdentity } from "../loops/loop-identities.ts";
import { isEmptyGroup, manage } from "../loops/loops.ts";
import type { LoopGroup } from "../loops/loops.ts";
import type { PortRange } from "../options.ts";
import { cutTransport } from "./cut-transport.ts";
import { inProcessTransport } from "./in-process-transport.ts";
import type { InProcessTransport } from "./in-process-transport.ts";

export interface ControlPlaneOptions {
  readonly loop: Loop;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  /** Other servers may be at work over the same store. */
  readonly isStoreShared: boolean;
  readonly tokenKeys: () => TokenKeys;
  /** By what people and programs are known. */
  readonly authentication?: AuthenticationOptions | undefined;
  /** Who says what somebody may do; nodes' own rules and roles unless given. */
  readonly authorization?: readonly AuthorizerOptions[] | undefined;
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
  readonly serviceCidrs: readonly string[];
  readonly nodePorts: PortRange;
  /** Which admission plugins take no part; all do unless given. */
  readonly admission?: AdmissionOptions | undefined;
  /** How requests under way are bounded and share the server; as kube-apiserver's unless given. */
  readonly fairness?: FairnessOptions | undefined;
  /** What pods and nodes use, where anybody in this process knows. */
  readonly usage?: UsageSource | undefined;
  /** Where requests are written down; nowhere unless given. */
  readonly audit?: AuditTrail | undefined;
  /** Whom servers of other APIs may believe, where there are sockets. */
  readonly vouchers?: HouseOptions["vouchers"];
  /** Of the machine, where the server tells everybody of itself. */
  readonly hostname?: string | undefined;
  /** How some resources are stored; all are stored as they are unless given. */
  readonly encryption?: Encryption | undefined;
  /** With which servers of other APIs are shown who speaks for users; with nothing unless given. */
  readonly frontProxy?: AggregationOptions["frontProxy"];
  /** Values that are handed out in the process are frozen. */
  readonly freezes: boolean;
}

/** Where clients outside the process find the server. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly machineAddresses: readonly string[];
}

interface LoopEnds {
  /** Aborted when the loops shall end. */
  readonly signal: AbortSignal;
  /** Aborted when they shall not reach the server any more. */
  readonly cut: AbortSignal;
}

/** The loops that a program brings along may do what the program may. */
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

  /** A way in for somebody in this process, whose loop gets the replies. */
  transport(user: PeerIdentity, loop: Loop): InProcessTransport {
    const { freezes } = this.#options;
    const { handler, workshop } = this.#server;
    return inProcessTransport({ handler, loop, serverLoop: workshop.loop, user, freezes });
  }

  /** Runs loops in this process until the signal is aborted, on caches of their own, as if they were a program of their own. */
  async runLoops(name: string, group: LoopGroup, { signal, cut }: LoopEnds): Promise<void> {
    const { log, metrics } = this.#options;
    const loop = this.#options.loop.child(name);
    const transport = cutTransport(this.transport(PROGRAM, loop), cut);
    try {
      await manage(group, { transport, loop, log, metrics }).run(signal);
    } finally {
      await transport.close();
    }
  }

  /** The same for several groups that share their caches, each under its own lead. */
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

  /** What is stored at this moment, in order of namespace and name; as the version that the type names has it. */
  objects({ apiVersion, plural }: ResourceType, namespace: string): readonly ApiObject[] {
    const { store, registry, versions } = this.#server.workshop;
    const slash = apiVersion.indexOf("/");
    const place = { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
    const resource = registry.find({ ...place, resource: plural });
    if (resource === undefined || !isStored(resource))
      throw new Error(`${plural} of ${apiVersion} are not stored`);
    const prefix = prefixOf(resource, namespace);
    const entries = [...store.view.range(prefix, prefixEnd(prefix))];
    return entries.map((entry) => versions.entry(entry, resource));
  }

  /** Puts in place what clients expect of a server; it is ready after this, not before. */
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
    this.#upkeep = createUpkeep(this.#server.workshop, house);
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

  /** Keeps everything going until the signal is aborted; resolves when all of it has ended, rejects when something broke. */
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
