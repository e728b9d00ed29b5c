/**
 * Converts device kinds between v1beta1 and v1. In v1beta1 the fields of `exactly` are in the request itself,
 * and the fields of a device are below `basic`. v1beta2 equals v1.
 */

import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { Conversion } from "../rules/kind-rules.ts";

/** Fields of a request for one class of device. */
const EXACT_FIELDS: ReadonlySet<string> = new Set([
  "adminAccess",
  "allocationMode",
  "capacity",
  "count",
  "deviceClassName",
  "selectors",
  "tolerations",
]);

export const claimFromV1beta1: Conversion = (claim) => ({ ...claim, spec: changedClaim(claim, nested) });
export const claimToV1beta1: Conversion = (claim) => ({ ...claim, spec: changedClaim(claim, flat) });

export const claimTemplateFromV1beta1: Conversion = (template) => changedTemplate(template, nested);
export const claimTemplateToV1beta1: Conversion = (template) => changedTemplate(template, flat);

export const sliceFromV1beta1: Conversion = (slice) => changedDevices(slice, withoutBasic);
export const sliceToV1beta1: Conversion = (slice) => changedDevices(slice, withBasic);

type Change = (item: JsonObject) => JsonObject;

function changedTemplate(template: JsonObject, change: Change): JsonObject {
  const spec = objectOf(template["spec"]);
  return { ...template, spec: { ...spec, spec: changedClaim(spec, change) } };
}

/** Changes the requests of a claim spec, in a claim or in the spec of a template. */
function changedClaim({ spec }: JsonObject, change: Change): JsonObject {
  const claim = objectOf(spec);
  const devices = objectOf(claim["devices"]);
  return { ...claim, devices: { ...devices, ...changedList(devices, "requests", change) } };
}

function changedDevices(slice: JsonObject, change: Change): JsonObject {
  const spec = objectOf(slice["spec"]);
  return { ...slice, spec: { ...spec, ...changedList(spec, "devices", change) } };
}

/** Empty when there is no list of that name. */
function changedList(owner: JsonObject, name: string, change: Change): JsonObject {
  const list = owner[name];
  return Array.isArray(list) ? { [name]: list.map((item) => change(objectOf(item))) } : {};
}

/** v1beta1 writes an absent class as "", also in a request with alternatives. */
function nested(request: JsonObject): JsonObject {
  const fields = Object.entries(request);
  const exactly = fields.filter(([name, value]) => EXACT_FIELDS.has(name) && value !== "");
  const others = Object.fromEntries(fields.filter(([name]) => !EXACT_FIELDS.has(name)));
  const hasChoice = Array.isArray(request["firstAvailable"]) && request["firstAvailable"].length > 0;
  return exactly.length === 0 && hasChoice ? others : { ...others, exactly: Object.fromEntries(exactly) };
}

function flat({ exactly, ...request }: JsonObject): JsonObject {
  return { ...request, ...objectOf(exactly) };
}

function withoutBasic({ basic, ...device }: JsonObject): JsonObject {
  return { ...device, ...objectOf(basic) };
}

function withBasic({ name, ...basic }: JsonObject): JsonObject {
  return { name, basic };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
