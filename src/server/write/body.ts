/** Reads request bodies in JSON, YAML or protobuf and returns them as JSON values. */
import { badRequest, unsupportedMediaType } from "../../api/errors/api-error.ts";
import { shownContent } from "../../api/errors/secret-content.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { type ParsedJson, parseJson } from "../../api/json/json-scan.ts";
import { goJsonWord } from "../../api/patch/go-text.ts";
import { decodeObject, hasEnvelope, readEnvelope } from "../../api/protobuf/envelope.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import { TooLargeError } from "../../api/work-budget.ts";
import { parseYaml } from "../../api/yaml/yaml.ts";
import { errorText } from "../../base/error-text.ts";
import type { SharedSpec, SpecCache } from "../objects/spec-cache.ts";
import type { AcceptedRequest } from "../request/http.ts";
import { findMediaType } from "../request/media-type.ts";

/** Upstream's limit on a request body. */
export const BODY_BYTES_MAX = 3 << 20;

const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const ACCEPTED = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
const WITHOUT_PROTOBUF = [JSON_TYPE, YAML_TYPE];

export interface Body {
  readonly value: JsonObject;
  /** Paths of keys that occur twice in a JSON body. */
  readonly duplicates: readonly string[];
  /** Further problems, reported before the duplicates if the client asked for field validation. */
  readonly problems?: readonly string[];
  /** Size of the body that the value was read from; undefined for a value that was not parsed from bytes. */
  readonly bytes?: number;
  /** The client sent YAML or a patch, not this JSON value. */
  readonly isRewritten?: boolean;
  /** The object in normal form that the value was derived from. Parts that both share are in normal form too. */
  readonly known?: JsonObject;
  /** The bytes of an object without a `kind`. Error messages quote them. */
  readonly sent?: Uint8Array | undefined;
  /** Result of the lookup of the spec in `specs`. If the spec is known, the value contains the shared spec. */
  readonly shared?: SharedSpec | undefined;
}

export interface BodyOptions {
  /** Schema that decodes a protobuf message of this type. */
  readonly schemaOf: (apiVersion: string, kind: string) => StructSchema | undefined;
  /** Expected kind, named in error messages. Undefined for the options of a request. */
  readonly kind?: string;
  /** False for custom resources: they have no protobuf encoding. */
  readonly hasProtobuf?: boolean;
  /** Deduplicates equal specs. */
  readonly specs?: SpecCache | undefined;
}

/** Media type of the body. Empty if the client sent no Content-Type; the body is JSON then. */
function acceptedType(request: AcceptedRequest, accepted: readonly string[] = ACCEPTED): string {
  const header = request.headers.get("content-type") ?? "";
  if (header === "") return header;
  const type = findMediaType(header);
  if (type === undefined || !accepted.includes(type)) throw unsupportedMediaType(accepted);
  return type;
}

export async function readBody(request: AcceptedRequest, options: BodyOptions): Promise<Body> {
  const accepted = options.hasProtobuf === false ? WITHOUT_PROTOBUF : ACCEPTED;
  return readBodyAs(request, acceptedType(request, accepted), options);
}

/** Undefined for an empty body, whatever its Content-Type. */
export async function readOptionalBody(
  request: AcceptedRequest,
  options: BodyOptions,
): Promise<Body | undefined> {
  const { direct } = request;
  if (direct !== undefined)
    return direct.body === undefined ? undefined : shownBody(request, directBody(direct.body, options));
  const bytes = await request.readBody(BODY_BYTES_MAX);
  return bytes.length === 0
    ? undefined
    : shownBody(request, decodeBody(bytes, acceptedType(request), options));
}

export async function readBodyAs(
  request: AcceptedRequest,
  type: string,
  options: BodyOptions,
): Promise<Body> {
  if (request.direct !== undefined) return shownBody(request, directBody(request.direct.body, options));
  const bytes = await request.readBody(BODY_BYTES_MAX);
  // The observer of the body must see it as the client sent it, so specs are not replaced.
  const wanted = request.onBody === undefined ? options : { ...options, specs: undefined };
  return shownBody(request, decodeBody(bytes, type, wanted));
}

function shownBody(request: AcceptedRequest, body: Body): Body {
  request.onBody?.(body.value);
  return body;
}

function directBody(value: unknown, { kind }: BodyOptions): Body {
  try {
    return { value: namedObject(value), duplicates: [] };
  } catch (error) {
    throw unrecognized(kind, error);
  }
}

function decodeBody(bytes: Uint8Array, type: string, options: BodyOptions): Body {
  if (type === PROTOBUF_TYPE)
    return { value: decodeProtobuf(bytes, options), duplicates: [], bytes: bytes.length };
  try {
    const isYaml = type === YAML_TYPE;
    const spec = isYaml || options.specs === undefined ? undefined : new SpecReader(options.specs);
    const parsed = isYaml ? parseYaml(bytes) : parseNamed(bytes, spec);
    const { duplicates } = parsed;
    const value = namedObject(parsed.value);
    // Keep the bytes no longer than needed: bytes that outlive the parsing make a create a tenth slower.
    const sent = (value["kind"] ?? "") === "" ? bytes : undefined;
    return isYaml
      ? { value, duplicates: [], problems: duplicates, isRewritten: true, sent, bytes: bytes.length }
      : { value, duplicates, sent, shared: spec?.shared, bytes: bytes.length };
  } catch (error) {
    throw unrecognized(options.kind, error, bytes);
  }
}

/** Upstream reads `apiVersion` and `kind` before the rest of the object. */
const UNNAMED = "couldn't get version/kind; json parse error: ";
const NAMES_TYPE = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

function parseNamed(bytes: Uint8Array, spec: SpecReader | undefined): ParsedJson {
  try {
    return parseJson(bytes, spec);
  } catch (error) {
    if (error instanceof TooLargeError) throw error;
    throw new Error(`${UNNAMED}${messageOf(error)}`, { cause: error });
  }
}

/** The value as an object with valid `apiVersion` and `kind`. `null` counts as an empty object. */
function namedObject(value: unknown): JsonObject {
  if (value === null) return {};
  if (!isJsonObject(value))
    throw new Error(
      `${UNNAMED}json: cannot unmarshal ${goJsonWord(value)} into Go value of type ${NAMES_TYPE}`,
    );
  checkNames(value);
  return value;
}

/** Throws unless `apiVersion` and `kind` are absent or valid texts. */
export function checkNames({ apiVersion, kind }: JsonObject): void {
  checkText(apiVersion, "apiVersion");
  checkText(kind, "kind");
  if (typeof apiVersion === "string" && apiVersion.split("/").length > 2)
    throw badRequest(`unexpected GroupVersion string: ${apiVersion}`);
}

function checkText(value: unknown, name: string): void {
  if (value === undefined || value === null || typeof value === "string") return;
  throw badRequest(
    `${UNNAMED}json: cannot unmarshal ${goJsonWord(value)} into Go struct field .${name} of type string`,
  );
}

/** Finds specs that earlier requests sent, by their JSON text. */
class SpecReader {
  readonly name = "spec";
  readonly #specs: SpecCache;
  shared: SharedSpec | undefined;

  constructor(specs: SpecCache) {
    this.#specs = specs;
  }

  read(text: string): unknown {
    this.shared = this.#specs.findText(text);
    return this.shared?.defaulted ?? JSON.parse(text);
  }
}

function decodeProtobuf(bytes: Uint8Array, { schemaOf, kind }: BodyOptions): JsonObject {
  if (!hasEnvelope(bytes))
    throw badRequest(
      "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    );
  try {
    const envelope = readEnvelope(bytes);
    const schema = schemaOf(envelope.apiVersion, envelope.kind);
    if (schema === undefined)
      throw new Error(`no kind "${envelope.kind}" is registered for version "${envelope.apiVersion}"`);
    return decodeObject(schema, envelope);
  } catch (error) {
    throw unrecognized(kind, error);
  }
}

export function unrecognized(kind: string | undefined, error: unknown, sent?: Uint8Array): Error {
  if (error instanceof TooLargeError) return error;
  const message = messageOf(error);
  if (kind === undefined) return badRequest(message);
  const shown = sent === undefined ? "" : ` (${shownContent(kind, () => findStartPoint(sent))})`;
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${message}${shown}`);
}

function messageOf(error: unknown): string {
  return errorText(error);
}

/** Number of bytes of a body that upstream quotes. */
const SHOWN_BYTES = 30;

/** A body that is not a JSON object may be binary, so its bytes are shown in hex. */
function findStartPoint(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const buffer = Buffer.from(bytes.subarray(0, SHOWN_BYTES));
  const isObject = bytes[0] === "{".codePointAt(0);
  return `${buffer.toString(isObject ? "utf8" : "hex")}${bytes.length > SHOWN_BYTES ? " ..." : ""}`;
}
