/** Turns answers into bytes, in the form that the client asked for. */
import { toStatus } from "../../api/errors/api-error.ts";
import type { Status } from "../../api/errors/api-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { encodeObject, writeEnvelope } from "../../api/protobuf/envelope.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { stringifyYaml, yamlPieces } from "../../api/yaml/yaml-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { isStored } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { Versions } from "../objects/versions.ts";
import type { Answer, ListAnswer, ObjectAnswer, StoredAnswer, WatchAnswer } from "../request/answer.ts";
import type { HttpResponse } from "../request/http.ts";
import { prettyJson } from "./bytes/json-text.ts";
import { acceptsGzip, GZIP_ABOVE_BYTES, gzipped, bodyOf, PIECE_BYTES } from "./bytes/pieces.ts";
import { directResponse } from "./direct.ts";
import type { FormCache } from "./form-cache.ts";
import { chooseForm, findStatusMedia, mediaTypeOf, wantsPretty } from "./form.ts";
import type { Asked, Form, Media } from "./form.ts";
import { COMMA, jsonList, protobufList, yamlList } from "./list-body.ts";
import { metadataView, wholeView } from "./object-view.ts";
import type { ObjectView } from "./object-view.ts";
import { SCALE_TABLE } from "./scale-table.ts";
import { asksForSocket, socketResponse } from "./socket/watch-socket.ts";
import { Table } from "./table.ts";
import { warningHeader } from "./warnings.ts";
import type { WatchBatcher } from "./watch-feed.ts";
import { WatchFeed } from "./watch-feed.ts";
import { encodeStatus, JsonFrames, ProtobufFrames, TableFrames } from "./watch-frames.ts";

export interface RepresentationTools {
  readonly loop: Loop;
  readonly versions: Versions;
  readonly cache: FormCache;
  readonly batcher: WatchBatcher;
}

/** Throws where `chooseForm` does, unless `asked.form` is set. */
export function represent(answer: Answer, asked: Asked, tools: RepresentationTools): HttpResponse {
  if (asked.request.direct !== undefined) {
    return directResponse(answer, { view: directView(asked, tools), warnings: asked.notes?.warnings });
  }
  // A Status uses the requested media type; transforms do not apply to it.
  if (answer.type === "status") {
    const form = asked.form ?? chooseForm(asked);
    return statusResponse(answer.status, { ...asked, form }, asked.notes?.warnings);
  }
  const page = { form: asked.form ?? chooseForm(asked), asked, tools };
  switch (answer.type) {
    case "stored":
      return response(page, answer, storedBody(page, answer));
    case "object":
      return response(page, answer, objectBody(page, answer));
    case "list":
      return response(page, { code: 200 }, listBody(page, answer));
    case "watch":
      return watchResponse(page, answer);
    case "nothing":
      return { status: 204, headers: new Map(), body: NO_BYTES };
  }
}

function directView(asked: Asked, tools: RepresentationTools): ObjectView | undefined {
  const { resource } = asked;
  if (!isStored(resource)) return undefined;
  const { transform, metaVersion } = asked.form ?? chooseForm(asked);
  return transform === undefined ? wholeView(resource, tools) : metadataView(metaVersion, tools, resource);
}

/** Errors other than ApiError become an internal error with their message, never their stack. */
export function errorResponse(
  error: unknown,
  asked: Pick<Asked, "request" | "query">,
  warnings: readonly string[] = [],
): HttpResponse {
  return statusResponse(toStatus(error), asked, warnings);
}

function statusResponse(
  status: Status,
  asked: Pick<Asked, "request" | "query" | "form">,
  warnings: readonly string[] = [],
): HttpResponse {
  if (asked.request.direct !== undefined) return directResponse({ type: "status", status }, { warnings });
  const { media, isPretty } = asked.form ?? statusForm(asked);
  const headers = headersOf(mediaTypeOf(media), warnings);
  const wait = status.details?.retryAfterSeconds ?? 0;
  if (wait > 0) headers.set("retry-after", String(wait));
  const bytes = media === "protobuf" ? encodeStatus(status) : textOf(status, media);
  const body = isPretty ? whole(prettyJson([bytes])) : bytes;
  return { status: status.code ?? 200, headers, body, isLine: isLineOf({ media, isPretty }) };
}

/** A client that accepts none of the types gets indented JSON, as upstream. */
function statusForm(asked: Pick<Asked, "request" | "query">): Pick<Form, "media" | "isPretty"> {
  const media = findStatusMedia(asked.request.headers.get("accept"));
  if (media === undefined) return { media: "json", isPretty: true };
  return { media, isPretty: media === "json" && wantsPretty(asked) };
}

/** Compact JSON ends with a newline, indented JSON does not, as upstream. */
function isLineOf({ media, isPretty }: Pick<Form, "media" | "isPretty">): boolean {
  return media === "json" && !isPretty;
}

/** Inputs of one response. */
interface Page {
  readonly form: Form;
  readonly asked: Asked;
  readonly tools: RepresentationTools;
}

/** A finished body, or parts still to be made. The parts of a protobuf list are made in several turns of the loop. */
type Body = { readonly parts: Iterable<Uint8Array> } | { readonly body: HttpResponse["body"] };

function response(
  { form, asked, tools }: Page,
  { code }: { readonly code: number },
  made: Body,
): HttpResponse {
  const headers = headersOf(mediaTypeOf(form.media), asked.notes?.warnings);
  if ("body" in made && made.body instanceof Uint8Array && made.body.length <= GZIP_ABOVE_BYTES) {
    return { status: code, headers, body: made.body, isLine: isLineOf(form) };
  }
  const wantsGzip = acceptsGzip(asked.request.headers.get("accept-encoding"));
  const bounds = { wholeBytes: wantsGzip ? GZIP_ABOVE_BYTES : PIECE_BYTES, loop: tools.loop };
  const { body, isLine } = sentBody(made, form, bounds);
  if (!wantsGzip || (body instanceof Uint8Array && body.length <= GZIP_ABOVE_BYTES)) {
    return { status: code, headers, body, isLine };
  }
  headers.set("content-encoding", "gzip");
  headers.set("vary", "Accept-Encoding");
  const pieces = body instanceof Uint8Array ? piecesOf(isLine ? [body, NEWLINE] : [body]) : body;
  return { status: code, headers, body: gzipped(pieces, tools.loop) };
}

const NEWLINE: Uint8Array = Buffer.from("\n");

/** A finished body is not copied for the newline; a joined body gets it as its last part. */
function sentBody(
  made: Body,
  form: Form,
  bounds: { readonly wholeBytes: number; readonly loop: Loop },
): { readonly body: HttpResponse["body"]; readonly isLine: boolean } {
  const endsInLine = isLineOf(form);
  if ("body" in made) return { body: made.body, isLine: endsInLine };
  const parts = form.isPretty ? prettyJson(made.parts) : made.parts;
  if (Array.isArray(parts)) return { body: bodyOf(parts, bounds), isLine: endsInLine };
  return { body: bodyOf(parts, { ...bounds, ...(endsInLine && { end: NEWLINE }) }), isLine: false };
}

async function* piecesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function headersOf(contentType: string, warnings: readonly string[] = []): Map<string, string> {
  const headers = new Map([
    ["cache-control", "no-cache, private"],
    ["content-type", contentType],
  ]);
  const warning = warnings.length === 0 ? undefined : warningHeader(warnings);
  if (warning !== undefined) headers.set("warning", warning);
  return headers;
}

function storedBody(page: Page, { stored, resource }: StoredAnswer): Body {
  const { media, transform } = page.form;
  if (transform === "Table") {
    const table = tableOf(page, resource);
    if (media === "json") return { parts: table.json(stored, { hasColumns: true }) };
    const served = page.tools.versions.served(stored, resource);
    return { parts: [textOf(table.value(served, { hasColumns: true }), media)] };
  }
  const view = viewOf(page, resource);
  if (media === "json") {
    const body = isWrite(page) ? view.briefJson(stored) : view.json(stored);
    return page.form.isPretty ? { parts: [body] } : { body };
  }
  if (media === "yaml") return { parts: yamlParts(view.value(stored)) };
  return { parts: [writeEnvelope({ ...view, raw: view.message(stored) })] };
}

function isWrite({ asked }: Page): boolean {
  return asked.info.verb !== "get";
}

function objectBody(page: Page, { object }: ObjectAnswer): Body {
  const { media, transform, metaVersion } = page.form;
  if (transform === "Table") {
    const table = tableOf(page, page.asked.resource as StoredResource);
    return { parts: [textOf(table.value(object, { hasColumns: true }), media)] };
  }
  const isWhole = transform === undefined;
  const value = isWhole ? object : metadataView(metaVersion, page.tools, undefined).shown(object);
  if (media === "yaml") return { parts: yamlParts(value) };
  if (media === "json") return { parts: "items" in value ? jsonItems(value) : [textOf(value, media)] };
  const schema = isWhole
    ? findKindSchema(object.apiVersion, object.kind)
    : findKindSchema("meta.k8s.io/v1", value["kind"] as string);
  if (schema === undefined) throw new Error(`${object.apiVersion} ${object.kind} has no protobuf form`);
  return { parts: [encodeObject(schema, value)] };
}

/** The text of a list that is not stored, one part for each item. `items` is its last member. */
function* jsonItems({ items, ...list }: JsonObject): Generator<Uint8Array> {
  yield Buffer.from(stringifyJson({ ...list, items: [] }).slice(0, -"]}".length));
  for (const [at, item] of (items as readonly JsonObject[]).entries()) {
    if (at > 0) yield COMMA;
    yield Buffer.from(stringifyJson(item));
  }
  yield LIST_END;
}

const LIST_END: Uint8Array = Buffer.from("]}");

function listBody(page: Page, list: ListAnswer): Body {
  const { media, transform } = page.form;
  if (transform === "Table") {
    const table = tableOf(page, list.resource);
    return { parts: media === "json" ? table.jsonList(list) : table.yamlList(list) };
  }
  const view = viewOf(page, list.resource);
  if (media === "json") return { parts: jsonList(list, view) };
  if (media === "yaml") return { parts: yamlList(list, view) };
  return { body: protobufList(list, view, page.tools.loop) };
}

function watchResponse(page: Page, answer: WatchAnswer): HttpResponse {
  const { media } = page.form;
  if (asksForSocket(page.asked.request)) return watchOverSocket(page, answer);
  const type = mediaTypeOf(media);
  const headers = headersOf(media === "json" ? type : `${type};stream=watch`, page.asked.notes?.warnings);
  const tools = { writer: framesOf(page, answer.resource), batcher: page.tools.batcher };
  return { status: 200, headers, body: NO_BYTES, feed: new WatchFeed(answer.events, tools) };
}

function watchOverSocket(page: Page, answer: WatchAnswer): HttpResponse {
  const tools = { writer: framesOf(page, answer.resource), batcher: page.tools.batcher };
  const type = page.form.media === "protobuf" ? "binary" : "text";
  const feed = new WatchFeed(answer.events, tools);
  return socketResponse(feed, page.asked.request, { type, loop: page.tools.loop });
}

const NO_BYTES = new Uint8Array(0);

function framesOf(page: Page, resource: StoredResource): JsonFrames | ProtobufFrames | TableFrames {
  const { form, tools } = page;
  if (form.transform === "Table") {
    const table = (): Table => tableOf(page, resource);
    return new TableFrames({ table, view: wholeView(resource, tools), servedOf: servedBy(page, resource) });
  }
  const options = { view: viewOf(page, resource), cache: tools.cache };
  return form.media === "protobuf" ? new ProtobufFrames(options) : new JsonFrames(options);
}

function viewOf({ form, tools }: Page, resource: StoredResource): ObjectView {
  return form.transform === undefined
    ? wholeView(resource, tools)
    : metadataView(form.metaVersion, tools, resource);
}

function tableOf(page: Page, resource: StoredResource): Table {
  const { form, tools } = page;
  const view =
    form.includeObject === "Object"
      ? wholeView(resource, tools)
      : metadataView(form.metaVersion, tools, resource);
  return new Table({
    resource: page.asked.info.subresource === "scale" ? SCALE_TABLE : resource,
    metaVersion: form.metaVersion,
    view: form.includeObject === "None" ? undefined : view,
    servedOf: servedBy(page, resource),
    now: tools.loop.now(),
  });
}

function servedBy({ tools }: Page, resource: StoredResource): TableServed {
  return (stored) => tools.versions.served(stored, resource);
}

type TableServed = (stored: StoredObject) => ReturnType<Versions["served"]>;

function textOf(value: JsonObject, media: Media): Uint8Array {
  return Buffer.from(media === "yaml" ? stringifyYaml(value) : stringifyJson(value));
}

function* yamlParts(value: JsonObject): Generator<Uint8Array> {
  for (const piece of yamlPieces(value)) yield Buffer.from(piece);
}

function whole(parts: Iterable<Uint8Array>): Uint8Array {
  return Buffer.concat([...parts]);
}
