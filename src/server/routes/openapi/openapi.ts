/** Serves the OpenAPI documents at /openapi/v2 and /openapi/v3. */
import { methodNotAllowed, notAcceptable } from "../../../api/errors/api-error.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { RemoteVersion } from "../../aggregation/remote-discovery.ts";
import type { Registry } from "../../objects/registry.ts";
import { compressedResponse } from "../../representation/bytes/document.ts";
import type { Document } from "../../representation/bytes/document.ts";
import type { Exchange, Route } from "../../request/exchange.ts";
import type { AcceptedRequest, HttpResponse } from "../../request/http.ts";
import { asksFor, parseAccept } from "../../request/media-type.ts";
import { GNOSTIC_TYPE, GNOSTIC_V3_TYPE, OpenApiDocuments } from "./documents.ts";

const V2 = "/openapi/v2";
const V3 = "/openapi/v3";
const JSON_TYPE = "application/json";
/** An older name that many clients send, although it is not a valid media type. */
const OLD_GNOSTIC_TYPE = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
const V2_TYPES = [JSON_TYPE, OLD_GNOSTIC_TYPE, GNOSTIC_TYPE];
const OLD_GNOSTIC_V3_TYPE = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
const V3_TYPES = [JSON_TYPE, GNOSTIC_V3_TYPE, OLD_GNOSTIC_V3_TYPE];

/** A document with its hash in the URL never changes. */
const FOREVER = "public, immutable";
const YEAR_MS = 365 * 24 * 3600 * 1000;

/** `remote` lists the group versions of extension servers. */
export function openApiRoute(
  registry: Registry,
  loop: Loop,
  remote: { readonly versions: readonly RemoteVersion[] } = { versions: [] },
): Route {
  const documents = new OpenApiDocuments(registry, loop);
  return (exchange) => {
    const { method } = exchange.info;
    const path = exchange.info.path.replace(/\/$/, "");
    if (path !== V2 && path !== V3 && !path.startsWith(`${V3}/`)) return undefined;
    if (method !== "GET" && method !== "HEAD") throw methodNotAllowed();
    if (path === V2) return respondV2(exchange.request, (form) => documents.v2(form, remote.versions), loop);
    if (path === V3) return respondIndex(exchange.request, documents.v3Index(remote.versions), loop);
    const document = documents.findV3(path.slice(V3.length + 1));
    if (document === undefined) return undefined;
    const type = chosenType(exchange.request.headers.get("accept"), V3_TYPES);
    const wanted = type === JSON_TYPE ? document : document.then((found) => documents.asProtobuf(found));
    return respondV3(exchange, wanted, loop);
  };
}

async function respondV2(
  request: AcceptedRequest,
  find: (form: "json" | "protobuf") => Promise<Document>,
  loop: Loop,
): Promise<HttpResponse> {
  const type = chosenType(request.headers.get("accept"), V2_TYPES);
  const document = await find(type === JSON_TYPE ? "json" : "protobuf");
  return compressedResponse(document, request, loop);
}

async function respondIndex(
  request: AcceptedRequest,
  index: Promise<Document>,
  loop: Loop,
): Promise<HttpResponse> {
  chosenType(request.headers.get("accept"), [JSON_TYPE]);
  return compressedResponse(await index, request, loop);
}

async function respondV3(
  { request, info: { path }, query }: Exchange,
  wanted: Promise<Document>,
  loop: Loop,
): Promise<HttpResponse> {
  const document = await wanted;
  const hash = query.get("hash") ?? "";
  if (hash !== "" && hash !== document.hash) {
    const headers = new Map([["location", `${path}?hash=${document.hash}`]]);
    return { status: 301, headers, body: new Uint8Array() };
  }
  const response = await compressedResponse(document, request, loop);
  if (hash === "") return response;
  const expires = new Date(loop.now() + YEAR_MS).toUTCString();
  return {
    ...response,
    headers: new Map([...response.headers, ["cache-control", FOREVER], ["expires", expires]]),
  };
}

function chosenType(accept: string | undefined, offered: readonly string[]): string {
  const [first = ""] = offered;
  if (accept === undefined || accept.trim() === "") return first;
  for (const clause of parseAccept(accept)) {
    const type = offered.find((candidate) => asksFor(clause, candidate));
    if (type !== undefined) return type;
  }
  throw notAcceptable(offered);
}
