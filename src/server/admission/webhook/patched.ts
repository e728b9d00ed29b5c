/** Applies a webhook's patch to an object. */
import { internalError, isApiError } from "../../../api/errors/api-error.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import { isJsonObject, type JsonObject } from "../../../api/json/json-object.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { applyJsonPatch } from "../../../api/patch/json-patch.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { quoted } from "../../../api/values/message-text.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import type { AdmittedResource } from "../../objects/registry.ts";
import { normal } from "../../write/incoming.ts";
import type { Hook } from "./hook.ts";

interface Patching {
  readonly hook: Hook;
  readonly resource: AdmittedResource;
  readonly patch: readonly JsonObject[];
}

/**
 * Undefined if the patch changes nothing. Throws an internal error for an invalid patch, because the client did not
 * cause it.
 */
export function patchedObject(
  object: ApiObject | undefined,
  { hook, resource, patch }: Patching,
): ApiObject | undefined {
  if (patch.length === 0) return undefined;
  if (object === undefined) {
    const why = "attempted to modify the object, which is not supported for this operation";
    throw internalError(new Error(`admission webhook ${quoted(hook.name)} ${why}`));
  }
  const value = told(() => applyJsonPatch(object, patch));
  if (!isJsonObject(value)) throw internalError(new Error("the patched value is no object"));
  const { apiVersion, kind } = object;
  const next = told(() => settled({ ...value, apiVersion, kind }, resource));
  return jsonEqual(next, object) ? undefined : next;
}

/** The patched object in normal form with its defaults, as the next webhook expects it. */
function settled(value: object, resource: AdmittedResource): ApiObject {
  const { apiVersion, kind } = value as ApiObject;
  const isMain = kind === resource.facts.kind && apiVersion === resource.apiVersion;
  const schema = isMain ? resource.schema : findKindSchema(apiVersion, kind);
  if (schema === undefined)
    throw new Error(`no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)}`);
  const next = normal(schema, value).value;
  const named = (next.metadata as unknown) === undefined ? { ...next, metadata: {} } : next;
  if (!isMain || resource.rules.defaults === undefined) return named as ApiObject;
  const draft = cloneJson(named) as Draft<ApiObject>;
  resource.rules.defaults(draft);
  return draft as ApiObject;
}

function told<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    const cause = isApiError(error) && error.cause instanceof Error ? error.cause : error;
    throw internalError(cause);
  }
}
