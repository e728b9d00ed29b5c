/** Discovery of the served API: /, /api, /apis and below, /version. */
import { methodNotAllowed, notAcceptable } from "../../../api/errors/api-error.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { encodeObject } from "../../../api/protobuf/envelope.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import type { GroupVersionFacts } from "../../../api/schema/resource-facts.ts";
import { stringifyYaml } from "../../../api/yaml/yaml-text.ts";
import type { RemoteVersion } from "../../aggregation/remote-discovery.ts";
import type { Registry } from "../../objects/registry.ts";
import { Document, documentResponse } from "../../representation/bytes/document.ts";
import { wantsPretty } from "../../representation/form.ts";
import type { Exchange, Route } from "../../request/exchange.ts";
import type { AcceptedRequest, HttpResponse } from "../../request/http.ts";
import { groupDiscoveryList } from "./aggregated-document.ts";
import { chooseDiscoveryForm, DISCOVERY_TYPES, PLAIN_TYPES } from "./discovery-form.ts";
import type { DiscoveryForm } from "./discovery-form.ts";
import { orderedGroups, orderedVersions } from "./group-order.ts";
import type { Group } from "./group-order.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./legacy-documents.ts";
import { versionInfo } from "./version.ts";

/** Paths outside the groups, listed at `/` for people. */
const OTHER_PATHS = [
  "/healthz",
  "/livez",
  "/metrics",
  "/metrics/slis",
  "/openapi/v2",
  "/openapi/v3",
  "/readyz",
  "/statusz",
  "/version",
];

/** A discovery document. Pages are keyed by path without a trailing slash. */
interface Page {
  /** Groups of the aggregated form, where the path has one. */
  readonly groups?: () => readonly Group[];
  readonly value: (request: AcceptedRequest) => JsonObject;
  /** Depends on the request, so it is not cached. */
  readonly isPersonal?: boolean;
  /** Kinds of the API also have a protobuf form. */
  readonly isKind: boolean;
}

/** Group versions of extension servers. */
interface Remote {
  /** Returns the same list until something in it changes. */
  readonly versions: readonly RemoteVersion[];
}

const NO_OTHERS: Remote = { versions: [] };

export function discoveryRoute(registry: Registry, remote: Remote = NO_OTHERS): Route {
  // Created at the first request, because it reads all definitions of custom resources.
  let discovery: Discovery | undefined;
  return (exchange) => {
    if (discovery?.isCurrent !== true) discovery = new Discovery(registry, remote);
    return discovery.respond(exchange);
  };
}

/** Documents for one state of the registry and the extension servers, each created at its first request. */
class Discovery {
  readonly #registry: Registry;
  readonly #groupVersions: Registry["groupVersions"];
  readonly #remote: Remote;
  readonly #remoteVersions: Remote["versions"];
  readonly #pages: ReadonlyMap<string, Page>;
  readonly #documents = new Map<string, Document>();

  constructor(registry: Registry, remote: Remote) {
    this.#registry = registry;
    this.#remote = remote;
    this.#groupVersions = registry.groupVersions;
    this.#remoteVersions = remote.versions;
    this.#pages = pagesOf(this.#groupVersions, this.#remoteVersions);
  }

  get isCurrent(): boolean {
    return (
      this.#registry.groupVersions === this.#groupVersions && this.#remote.versions === this.#remoteVersions
    );
  }

  respond({ request, info: { method, path }, query }: Exchange): Promise<HttpResponse> | undefined {
    const page = this.#pages.get(path.replace(/\/$/, ""));
    if (page === undefined) return undefined;
    if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
    const form = chooseDiscoveryForm(request.headers.get("accept"), page);
    if (form === undefined) throw notAcceptable(PLAIN_TYPES);
    const isPretty = form === "json" && wantsPretty({ request, query });
    const make = (): Document => documentOf(page, { form, isPretty }, request);
    const name = `${form} ${String(isPretty)} ${path.replace(/\/$/, "")}`;
    const document = page.isPersonal === true ? make() : (this.#documents.get(name) ?? make());
    if (page.isPersonal !== true) this.#documents.set(name, document);
    return Promise.resolve(documentResponse(document, request));
  }
}

/** Leaves out the documents of versions that extension servers serve. */
function pagesOf(
  local: readonly GroupVersionFacts[],
  remote: readonly RemoteVersion[],
): ReadonlyMap<string, Page> {
  const taken = new Set(remote.map(apiVersionOf));
  const groupVersions = taken.size === 0 ? local : local.filter((each) => !taken.has(apiVersionOf(each)));
  const groups = orderedGroups([...groupVersions, ...remote]);
  const core = groupVersions.filter(({ group }) => group === "");
  const coreGroups = (): readonly Group[] =>
    core.length === 0 ? [] : [{ name: "", versions: orderedVersions(core) }];
  const pages = new Map<string, Page>();
  pages.set("/api", {
    groups: coreGroups,
    value: ({ headers }) =>
      apiVersions(
        core.map(({ version }) => version),
        headers.get("host") ?? "",
      ),
    isPersonal: true,
    isKind: true,
  });
  pages.set("/apis", { groups: () => groups, value: () => apiGroupList(groups), isKind: true });
  for (const group of groups)
    pages.set(`/apis/${group.name}`, { value: () => apiGroup(group), isKind: true });
  for (const facts of groupVersions) {
    const path = facts.group === "" ? `/api/${facts.version}` : `/apis/${facts.group}/${facts.version}`;
    pages.set(path, { value: () => apiResourceList(facts), isKind: true });
  }
  const others = remote.map((each) => `/apis/${apiVersionOf(each)}`);
  const paths = [...pages.keys(), ...others, ...OTHER_PATHS, "/apis/"].toSorted();
  pages.set("", { value: () => ({ paths }), isKind: false });
  pages.set("/version", { value: () => versionInfo(), isKind: false });
  return pages;
}

interface Look {
  readonly form: DiscoveryForm;
  readonly isPretty: boolean;
}

function documentOf(page: Page, { form, isPretty }: Look, request: AcceptedRequest): Document {
  const type = DISCOVERY_TYPES[form];
  const indent = isPretty ? 2 : 0;
  // As upstream: compact kinds of the API end with a newline.
  const end = isPretty || !page.isKind ? "" : "\n";
  if (form === "v2") {
    const list = groupDiscoveryList(page.groups?.() ?? []);
    return new Document(type, Buffer.from(JSON.stringify(list, null, indent) + end));
  }
  const value = page.value(request);
  if (form === "protobuf") return new Document(type, protobufOf(value));
  return new Document(
    type,
    Buffer.from(form === "yaml" ? stringifyYaml(value) : JSON.stringify(value, null, indent) + end),
  );
}

function protobufOf(value: JsonObject): Uint8Array {
  const schema = findKindSchema("v1", String(value["kind"]));
  if (schema === undefined) throw new Error(`the published API has no ${String(value["kind"])}`);
  const full = { ...value, apiVersion: "v1" };
  return encodeObject(schema, toNormalForm(schema, full).value as JsonObject);
}
