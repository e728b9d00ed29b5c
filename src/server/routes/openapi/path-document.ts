/** Writes operations in the two versions of OpenAPI. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import { reference } from "./definition-name.ts";
import type { Dialect } from "./definition-name.ts";
import type { ApiOperation, PathItem } from "./operation.ts";
import type { Action, Parameter } from "./parameters.ts";
import { placedBody, placedParameter } from "./shared-parameters.ts";

const OBJECT_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const STREAM_TYPES = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const PATCH_TYPES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];
const ANY_TYPE = ["*/*"];
const STREAMING: ReadonlySet<Action> = new Set(["list", "watch", "watchlist"]);
const OF_GO_TYPES = /protobuf|strategic/;

const REASONS: Readonly<Record<number, string>> = { 200: "OK", 201: "Created", 202: "Accepted" };

export function pathDocument({ parameters, operations }: PathItem, dialect: Dialect): JsonObject {
  const write = dialect === "v2" ? writtenV2 : writtenV3;
  const place = dialect === "v2" ? placedParameter : parameterDocument;
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, write(operation)])),
    parameters: parameters.map(place),
  };
}

function writtenV2(operation: ApiOperation): JsonObject {
  const parameters = operation.parameters.map(placedParameter);
  const { body, isBodyRequired } = operation;
  if (body !== undefined) parameters.unshift(placedBody(body, isBodyRequired));
  return {
    ...common(operation),
    consumes: consumedTypes(operation),
    produces: producedTypes(operation),
    ...(parameters.length > 0 && { parameters }),
    responses: responses(operation, (definition) => ({ schema: answerSchema(definition, "v2") })),
  };
}

function writtenV3(operation: ApiOperation): JsonObject {
  const parameters = operation.parameters.map(parameterDocument);
  const { body, isBodyRequired } = operation;
  const types = producedTypes(operation);
  return {
    ...common(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        content: contentOf(consumedTypes(operation), reference(body, "v3")),
        ...(isBodyRequired && { required: true }),
      },
    }),
    responses: responses(operation, (definition) => ({
      content: contentOf(types, answerSchema(definition, "v3")),
    })),
  };
}

function common({ id, action, kind, tag }: ApiOperation): JsonObject {
  return {
    operationId: id,
    tags: [tag],
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": kind,
  };
}

function consumedTypes(operation: ApiOperation): readonly string[] {
  return operation.action === "patch" ? offered(PATCH_TYPES, operation) : ANY_TYPE;
}

function producedTypes(operation: ApiOperation): readonly string[] {
  const { action } = operation;
  if (action === "connect") return ANY_TYPE;
  return offered(STREAMING.has(action) ? [...OBJECT_TYPES, ...STREAM_TYPES] : OBJECT_TYPES, operation);
}

function offered(types: readonly string[], { isCustom }: ApiOperation): readonly string[] {
  return isCustom ? types.filter((type) => !OF_GO_TYPES.test(type)) : types;
}

function contentOf(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function answerSchema(definition: string | undefined, dialect: Dialect): JsonObject {
  return definition === undefined ? { type: "string" } : reference(definition, dialect);
}

function responses(
  { answers }: ApiOperation,
  write: (definition: string | undefined) => JsonObject,
): JsonObject {
  const good = answers.map(([code, definition]) => [
    String(code),
    { description: REASONS[code] ?? "", ...write(definition) },
  ]);
  return Object.fromEntries([...good, ["401", { description: "Unauthorized" }]]) as JsonObject;
}

function parameterDocument({ name, type, in: place }: Parameter): JsonObject {
  return {
    name,
    in: place,
    ...(place === "path" && { required: true }),
    schema: { type, uniqueItems: true },
  };
}
