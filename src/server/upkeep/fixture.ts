/** A test server without sockets and encodings: requests go straight to their verbs. */
import { isApiError, toStatus } from "../../api/errors/api-error.ts";
import { pathSegmentName } from "../../api/values/names.ts";
import { silentLog } from "../../base/log/log.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { priorityClass } from "../../resources/core/priority-class.ts";
import { conversions, kinds } from "../../resources/index.ts";
import { ipAddress } from "../../resources/networking/ip-address.ts";
import { serviceCidr } from "../../resources/networking/service-cidr.ts";
import { defineKind } from "../../resources/rules/kind-rules.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { createBearerTokens } from "../access/authn/create-authentication.ts";
import type { Seen } from "../access/authn/fixture.ts";
import { tokenIssuer } from "../access/authn/token-issuer.ts";
import { alwaysAllow } from "../access/authz/always-allow.ts";
import { RoleIndex } from "../access/authz/rbac/role-index.ts";
import { builtInAdmission } from "../admission/plugins.ts";
import { createEgress } from "../egress/create-egress.ts";
import { Registry } from "../objects/registry.ts";
import { SelectionIndexes } from "../objects/selection/selection-indexes.ts";
import { ObjectStore } from "../objects/stored/object-store.ts";
import { ValueReader } from "../objects/stored/value-reader.ts";
import { Versions } from "../objects/versions.ts";
import type { TokenKeys } from "../pki/pki-folder.ts";
import { makeTokenKeys } from "../pki/token-keys.ts";
import type { Answer } from "../request/answer.ts";
import { parseRequest } from "../request/parse-request.ts";
import { RequestCounts } from "../request/request-counts.ts";
import { RequestNotes } from "../request/request-notes.ts";
import { KeyPlaces } from "../verbs/causes-api/key-places.ts";
import { dispatch, resolve } from "../verbs/dispatch.ts";
import { ListCounts } from "../verbs/read/list-counts.ts";
import type { VerbParts } from "../verbs/verb.ts";
import { OpenSelectors } from "../verbs/watch/open-selectors.ts";
import { defaultPriorityClassCompanion } from "../write/companions/default-priority-class.ts";
import { serviceCompanion } from "../write/companions/service-companion.ts";
import { Journal } from "../write/journal.ts";
import type { RequestHeaderTrust } from "./bootstrap/extension-authentication.ts";
import { createUpkeep } from "./create-upkeep.ts";
import type { Upkeep } from "./upkeep.ts";

const apiService = defineKind("apiregistration.k8s.io/v1", "APIService", { nameRule: pathSegmentName });

export interface FixtureReply {
  readonly code: number;
  readonly body: Seen;
}

interface Content {
  readonly body: unknown;
  /** Media type. */
  readonly type: string;
}

export interface FixtureOptions {
  readonly serviceCidrs?: readonly string[];
  readonly nodePorts?: { readonly first: number; readonly last: number };
  /** Port on which the server listens. */
  readonly port?: number;
  /** Set to run another server over the same store. */
  readonly store?: Store;
  /** Address under which other machines reach the server. */
  readonly address?: string;
  readonly isStoreShared?: boolean;
  readonly hostname?: string;
  readonly log?: Log;
  readonly loop?: Loop;
  /** Defaults to new keys. */
  readonly tokenKeys?: TokenKeys;
  readonly requestHeaderTrust?: () => RequestHeaderTrust;
}

export class ServerFixture {
  readonly verbParts: VerbParts;
  readonly upkeep: Upkeep;

  private constructor(verbParts: VerbParts, upkeep: Upkeep) {
    this.verbParts = verbParts;
    this.upkeep = upkeep;
  }

  static async start(options: FixtureOptions = {}): Promise<ServerFixture> {
    const { serviceCidrs = ["10.96.0.0/12"], nodePorts = { first: 30_000, last: 32_767 } } = options;
    const loop = options.loop ?? createRealLoop({ name: "test" });
    const log = options.log ?? silentLog;
    const registry = new Registry([apiService, ipAddress, serviceCidr, priorityClass, ...kinds]);
    const versions = new Versions(conversions);
    const store = new ObjectStore({
      store: options.store ?? openMemoryStore({ loop: loop.child("store") }),
      reader: new ValueReader({ versions, kinds }),
      log,
    });
    const companions = [
      defaultPriorityClassCompanion(store),
      serviceCompanion({ loop, store, registry, versions, nodePorts }),
    ];
    const tokens = tokenIssuer(() => options.tokenKeys ?? makeTokenKeys());
    const egress = createEgress({ loop, store });
    const journal = new Journal();
    const parts = { loop, store, registry, versions };
    // The fixture runs no controllers, so plugins that rely on them are disabled.
    const authorizer = alwaysAllow;
    const admission = builtInAdmission(
      { ...parts, authorizer, roles: new RoleIndex(store) },
      { disabled: ["ServiceAccount", "TaintNodesByCondition"] },
    );
    const tally = new RequestCounts(createMetrics());
    const verbParts: VerbParts = {
      ...parts,
      unreadable: (prefix) => store.unreadable(prefix),
      readyToList: (prefix) =>
        store.ready(prefix, () => new Promise((resolve) => loop.post("request", resolve))),
      indexes: new SelectionIndexes({ loop, metrics: createMetrics() }),
      listCounts: new ListCounts(createMetrics()),
      authorizer,
      bearers: createBearerTokens({ loop, store, registry, tokens, egress }),
      admission,
      companions,
      tokens,
      journal,
      places: new KeyPlaces(registry),
      tally,
      selectors: new OpenSelectors(),
    };
    const place = {
      serviceCidrs,
      nodePorts,
      host: "127.0.0.1",
      port: options.port ?? 6443,
      machineAddresses: ["127.0.0.1", options.address ?? "10.1.2.3"],
      isStoreShared: options.isStoreShared ?? false,
      hostname: options.hostname,
      requestHeaderTrust: options.requestHeaderTrust,
    };
    const fixture = new ServerFixture(verbParts, createUpkeep({ ...verbParts, log }, place));
    await fixture.upkeep.settle();
    return fixture;
  }

  send(method: string, target: string, body?: unknown): Promise<FixtureReply> {
    return this.#exchange(method, target, { body, type: "application/json" });
  }

  patch(target: string, body: unknown, type = "application/merge-patch+json"): Promise<FixtureReply> {
    return this.#exchange("PATCH", target, { body, type });
  }

  async #exchange(method: string, target: string, content: Content): Promise<FixtureReply> {
    try {
      return this.#shown(await this.#answer(method, target, content));
    } catch (error) {
      if (!isApiError(error)) throw error;
      const status = toStatus(error);
      return { code: status.code ?? 200, body: seen(status) };
    }
  }

  #answer(method: string, target: string, { body, type }: Content): Answer | Promise<Answer> {
    const { info, query } = parseRequest(method, target);
    if (info.type === "other") throw new Error(`${target} is no resource`);
    const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
    const request = {
      method,
      target,
      headers: new Map([
        ["user-agent", "test/1"],
        ["content-type", type],
      ]),
      peer: undefined,
      signal: new AbortController().signal,
      readBody: () => Promise.resolve(bytes),
    };
    const user = { name: "alice", uid: "u1", groups: ["system:authenticated"], extra: {} };
    return dispatch(
      resolve({ request, info, query, user, notes: new RequestNotes() }, this.verbParts.registry),
      this.verbParts,
    );
  }

  #shown(answer: Answer): FixtureReply {
    const { versions } = this.verbParts;
    switch (answer.type) {
      case "stored":
        return { code: answer.code, body: seen(versions.served(answer.stored, answer.resource)) };
      case "object":
        return { code: answer.code, body: seen(answer.object) };
      case "status":
        return { code: answer.status.code ?? 200, body: seen(answer.status) };
      case "list": {
        const { resourceVersion, continueToken } = answer;
        const items = answer.items.map(({ object }) => object);
        return {
          code: 200,
          body: seen({ metadata: { resourceVersion, continue: continueToken }, items }),
        };
      }
      case "nothing":
        return { code: 204, body: {} };
      case "watch":
        throw new Error("a watch is not shown here");
    }
  }
}

function seen(value: object): Seen {
  return JSON.parse(JSON.stringify(value)) as Seen;
}

/** The text at a path in a response body; empty if absent. */
export function textAt(body: Seen, ...path: readonly string[]): string {
  let at: unknown = body;
  for (const name of path) at = (at as Seen | undefined)?.[name];
  return typeof at === "string" ? at : "";
}

/** The list at a path in a response body; empty if absent. */
export function listAt<T>(body: Seen, ...path: readonly string[]): readonly T[] {
  let at: unknown = body;
  for (const name of path) at = (at as Seen | undefined)?.[name];
  return Array.isArray(at) ? (at as readonly T[]) : [];
}
