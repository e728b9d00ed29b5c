/** Checks whether an extension server is available, and reads its discovery. */
import { isJsonObject } from "../../api/json/json-object.ts";
import { parseJson } from "../../api/json/json-scan.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { EgressError } from "../egress/egress.ts";
import type { ClientPair, Egress, EgressReply } from "../egress/egress.ts";
import { identityHeaders } from "../relay/forwarded-headers.ts";
import { failedDiscovery, PASSED } from "./availability.ts";
import type { Availability } from "./availability.ts";
import type { RemoteApi } from "./remote-apis.ts";
import type { ServerDocuments, ServerSpec } from "./remote-discovery.ts";
import { RESOURCES_MAX, resourcesInList, resourcesInPlainList } from "./remote-resources.ts";
import type { RemoteResources } from "./remote-resources.ts";
import { remoteSpec } from "./remote-spec.ts";

/** Same as upstream's. */
const TIMEOUT_MS = 5000;
/** Ten times the size of this server's own discovery. */
const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;
const AGGREGATED =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
  "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/** The user that extension servers see for this server's own requests. */
const AGGREGATOR = { name: "system:kube-aggregator", uid: "", groups: ["system:masters"], extra: {} };

export interface CheckParts {
  readonly egress: Egress;
  readonly frontProxy: () => ClientPair | undefined;
}

export interface CheckResult {
  readonly availability: Availability;
  /** Undefined when the server could not be reached. */
  readonly heard: ServerDocuments | undefined;
}

export interface CheckOptions {
  /** Result of the previous check. */
  readonly before: ServerDocuments | undefined;
  readonly signal: AbortSignal;
}

export async function checkRemote(
  api: RemoteApi,
  parts: CheckParts,
  { before, signal }: CheckOptions,
): Promise<CheckResult> {
  const { group, version, target } = api;
  const path = `/apis/${group}/${version}`;
  const url = `https://${target.name}.${target.namespace}.svc:${target.port}${path}`;
  const ask = asker(api, parts, signal);
  try {
    const reply = await ask(path, "application/json");
    if (!isGood(reply)) {
      const why = `bad status from ${url}: ${reply.status}`;
      return { availability: failedDiscovery(url, why), heard: undefined };
    }
    const found = (await aggregatedResources(api, ask)) ?? resourcesInPlainList(jsonOf(reply), api);
    const schemas = await schemasOf(api, ask);
    const spec = await specOf(api, ask, before?.spec);
    const heard = {
      resources: found.resources,
      schemas,
      ...(spec !== undefined && { spec }),
      ...cutOf(found),
    };
    return { availability: PASSED, heard };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return { availability: failedDiscovery(url, error.message), heard: undefined };
  }
}

function cutOf({ leftOut }: RemoteResources): { readonly cut?: string } {
  if (leftOut === 0) return {};
  return {
    cut: `discovery leaves out ${String(leftOut)} resources and subresources beyond ${String(RESOURCES_MAX)}`,
  };
}

type Ask = (path: string, accept: string, etag?: string) => Promise<EgressReply>;

function asker({ target, trust }: RemoteApi, { egress, frontProxy }: CheckParts, signal: AbortSignal): Ask {
  const identity = identityHeaders(AGGREGATOR) as Readonly<Record<string, string>>;
  return (path, accept, etag = "") =>
    egress.call({
      target,
      trust,
      pair: frontProxy(),
      method: "GET",
      path,
      headers: { ...identity, accept, ...(etag !== "" && { "if-none-match": etag }) },
      body: undefined,
      timeoutMs: TIMEOUT_MS,
      replyBytesMax: DOCUMENT_BYTES_MAX,
      signal,
    });
}

/** Reads the aggregated form, which contains more. Older servers do not have it. */
async function aggregatedResources(api: RemoteApi, ask: Ask): Promise<RemoteResources | undefined> {
  const reply = await ask("/apis", AGGREGATED);
  const isAggregated = reply.headers.get("content-type")?.includes("as=APIGroupDiscoveryList") === true;
  return isGood(reply) && isAggregated ? resourcesInList(jsonOf(reply), api) : undefined;
}

async function schemasOf({ group, version }: RemoteApi, ask: Ask): Promise<ReadonlyMap<string, string>> {
  const name = `apis/${group}/${version}`;
  const reply = await ask("/openapi/v3", "application/json");
  const document = isGood(reply) ? jsonOf(reply) : undefined;
  const paths = isJsonObject(document) ? document["paths"] : undefined;
  const entry = isJsonObject(paths) && Object.hasOwn(paths, name) ? paths[name] : undefined;
  const address = isJsonObject(entry) ? entry["serverRelativeURL"] : undefined;
  const isOwn = typeof address === "string" && address.startsWith(`/openapi/v3/${name}`);
  return new Map(isOwn ? [[name, address]] : []);
}

/** Reads the OpenAPI v2 document. A server without one, or with one that is too large, still counts as available. */
async function specOf(
  api: RemoteApi,
  ask: Ask,
  before: ServerSpec | undefined,
): Promise<ServerSpec | undefined> {
  try {
    const reply = await ask("/openapi/v2", "application/json", before?.etag);
    if (reply.status === 304) return before;
    if (!isGood(reply)) return undefined;
    const value = remoteSpec(jsonOf(reply), api);
    // An equal value keeps its identity, so that documents made of it stay cached.
    if (before !== undefined && jsonEqual(value, before.value)) return before;
    return { etag: reply.headers.get("etag") ?? "", value };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return undefined;
  }
}

/** A redirect does not count as success. */
function isGood({ status }: EgressReply): boolean {
  return status >= 200 && status <= 299;
}

/** Undefined for invalid JSON, or JSON beyond the depth and size limits of request bodies. */
function jsonOf({ body }: EgressReply): unknown {
  try {
    return parseJson(body).value;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
