/** Bodies as values: JSON, YAML or protobuf, whatever the client sent. */
import { badRequest, unsupportedMediaType } from "../../api/api-error.ts";
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { parseJson } from "../../api/json-scan.ts";
import { decodeObject, hasEnvelope, readEnvelope } from "../../api/protobuf/envelope.ts";
import type { StructSchema } from "../../api/schema.ts";
import { parseYaml } from "../../api/yaml.ts";
import type { HttpRequest } from "../http.ts";

/** As upstream's. */
export const BODY_BYTES_MAX = 3 << 20;

const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const ACCEPTED = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];

export interface Body {
  readonly value: JsonObject;
  /** Keys given twice, as paths. */
  readonly duplicates: readonly string[];
}

export interface BodyOptions {
  /** What a protobuf message is read as. */
  readonly schemaOf: (apiVersion: string, kind: string) => StructSchema | undefined;
  /** What is expected, for the message. */
  readonly kind: string;
}

export function mediaTypeOf(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export async function readBody(request: HttpRequest, options: BodyOptions): Promise<Body> {
  const type = mediaTypeOf(request.headers.get("content-type"));
  if (type !== "" && !ACCEPTED.includes(type)) throw unsupportedMediaType(ACCEPTED);
  return decodeBody(await request.readBody(BODY_BYTES_MAX), type, options);
}

export function decodeBody(bytes: Uint8Array, type: string, options: BodyOptions): Body {
  if (type === PROTOBUF_TYPE) return { value: decodeProtobuf(bytes, options), duplicates: [] };
  try {
    const parsed = type === YAML_TYPE ? parseYaml(bytes) : parseJson(bytes);
    if (isJsonObject(parsed.value)) return { value: parsed.value, duplicates: parsed.duplicates };
  } catch (error) {
    throw unrecognized(options.kind, error);
  }
  throw unrecognized(
    options.kind,
    new Error("json: cannot unmarshal a value that is no object into Go value"),
  );
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

function unrecognized(kind: string, error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${message}`);
}
