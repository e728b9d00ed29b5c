/** Bodies as values: JSON, YAML or protobuf, whatever the client sent. */
import { badRequest, unsupportedMediaType } from "../../api/api-error.ts";
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { parseJson } from "../../api/json-scan.ts";
import { decodeObject, hasEnvelope, readEnvelope } from "../../api/protobuf/envelope.ts";
import type { StructSchema } from "../../api/schema.ts";
import { parseYaml } from "../../api/yaml.ts";
import type { HttpRequest } from "../http.ts";
import type { SharedSpec, SharedSpecs } from "./shared-specs.ts";

/** As upstream's. */
export const BODY_BYTES_MAX = 3 << 20;

const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const ACCEPTED = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
const WITHOUT_PROTOBUF = [JSON_TYPE, YAML_TYPE];

export interface Body {
  readonly value: JsonObject;
  /** Where JSON has a key twice. */
  readonly duplicates: readonly string[];
  /** What else is to be told before that, to who wants to hear of it. */
  readonly problems?: readonly string[];
  /** It was not sent like this, but as YAML or as a patch. */
  readonly isRewritten?: boolean;
  /** What the value was made from, if it was: in normal form, so that what both have in common is too. */
  readonly known?: JsonObject;
  /** Where its spec was looked for, if it was; the value has what is known of it. */
  readonly shared?: SharedSpec | undefined;
}

export interface BodyOptions {
  /** What a protobuf message is read as. */
  readonly schemaOf: (apiVersion: string, kind: string) => StructSchema | undefined;
  /** What is expected, for the message. */
  readonly kind: string;
  /** Custom resources have no such form. */
  readonly hasProtobuf?: boolean;
  /** Where equal specs become one. */
  readonly specs?: SharedSpecs | undefined;
}

export function mediaTypeOf(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Empty when the client does not say: then it is JSON. */
function acceptedType(request: HttpRequest, accepted: readonly string[] = ACCEPTED): string {
  const type = mediaTypeOf(request.headers.get("content-type"));
  if (type !== "" && !accepted.includes(type)) throw unsupportedMediaType(accepted);
  return type;
}

export async function readBody(request: HttpRequest, options: BodyOptions): Promise<Body> {
  const accepted = options.hasProtobuf === false ? WITHOUT_PROTOBUF : ACCEPTED;
  return readBodyAs(request, acceptedType(request, accepted), options);
}

/** Undefined when there is none, whatever type it claims to have. */
export async function readOptionalBody(
  request: HttpRequest,
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

export async function readBodyAs(request: HttpRequest, type: string, options: BodyOptions): Promise<Body> {
  if (request.direct !== undefined) return shownBody(request, directBody(request.direct.body, options));
  const bytes = await request.readBody(BODY_BYTES_MAX);
  // Who looks at the body sees it as it was sent.
  const wanted = request.onBody === undefined ? options : { ...options, specs: undefined };
  return shownBody(request, decodeBody(bytes, type, wanted));
}

function shownBody(request: HttpRequest, body: Body): Body {
  request.onBody?.(body.value);
  return body;
}

function directBody(value: unknown, { kind }: BodyOptions): Body {
  if (isJsonObject(value)) return { value, duplicates: [] };
  throw unrecognized(kind, new Error("the body is no object"));
}

function decodeBody(bytes: Uint8Array, type: string, options: BodyOptions): Body {
  if (type === PROTOBUF_TYPE) return { value: decodeProtobuf(bytes, options), duplicates: [] };
  try {
    const isYaml = type === YAML_TYPE;
    const spec = isYaml || options.specs === undefined ? undefined : new SpecReader(options.specs);
    const { value, duplicates } = isYaml ? parseYaml(bytes) : parseJson(bytes, spec);
    if (isJsonObject(value))
      return isYaml
        ? { value, duplicates: [], problems: duplicates, isRewritten: true }
        : { value, duplicates, shared: spec?.shared };
  } catch (error) {
    throw unrecognized(options.kind, error);
  }
  throw unrecognized(
    options.kind,
    new Error("json: cannot unmarshal a value that is no object into Go value"),
  );
}

/** Knows the specs that were sent before. */
class SpecReader {
  readonly name = "spec";
  readonly #specs: SharedSpecs;
  shared: SharedSpec | undefined;

  constructor(specs: SharedSpecs) {
    this.#specs = specs;
  }

  read(text: string): unknown {
    this.shared = this.#specs.findText(text);
    return this.shared?.begun ?? JSON.parse(text);
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

export function unrecognized(kind: string, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${message}`);
}
