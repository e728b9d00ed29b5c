/**
 * Devices in version v1beta1, before requests and devices could be of several kinds: what a request asks for stands in
 * the request itself instead of below `exactly`, and what a device is stands below `basic`. v1beta2 is as v1.
 */

import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { Conversion } from "../rules/kind-rules.ts";

/** The fields of a request that asks for one kind of device. */
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

/** The spec of a claim, or of the claims that a template is for. */
function changedClaim({ spec }: JsonObject, change: Change): JsonObject {
  const claim = objectOf(spec);
  const devices = objectOf(claim["devices"]);
  return { ...claim, devices: { ...devices, ...changedList(devices, "requests", change) } };
}

function changedDevices(slice: JsonObject, change: Change): JsonObject {
  const spec = objectOf(slice["spec"]);
  return { ...slice, spec: { ...spec, ...changedList(spec, "devices", change) } };
}

/** Nothing when there is no such list. */
function changedList(owner: JsonObject, name: string, change: Change): JsonObject {
  const list = owner[name];
  return Array.isArray(list) ? { [name]: list.map((item) => change(objectOf(item))) } : {};
}

/** A class that is not named is written as "" in v1beta1, also where alternatives are listed instead. */
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
