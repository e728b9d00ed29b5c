/** Validates one device of a ResourceSlice: attributes, capacities, nodes, taints and consumed counters. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import type { Counter, Device, DeviceAttribute } from "../../api/generated/types/resource-v1.ts";
import { dns1123Label, dns1123Subdomain } from "../../api/values/names.ts";
import { findSemanticVersion } from "../../api/values/semantic-version.ts";
import { checkNodeSelector } from "../node/node-selector-rules.ts";
import { checkBindingConditions } from "./binding-conditions.ts";
import { checkCapacity } from "./capacity-rules.ts";
import { checkAttributeName } from "./driver-name.ts";
import { checkList } from "./list-rules.ts";
import { checkTaint } from "./taint-rules.ts";

const PROPERTIES_MAX = 32;
const ATTRIBUTE_VALUES_MAX = 48;
const TEXT_MAX_BYTES = 64;
const TAINTS_MAX = 16;
const CONSUMPTIONS_MAX = 2;
const COUNTERS_MAX = 32;

interface DevicePlace {
  readonly path: FieldPath;
  /** True when each device of the slice names its own nodes. */
  readonly isPlacedAlone: boolean;
}

export function checkDevice(device: Device, { path, isPlacedAlone }: DevicePlace, errors: FieldErrors): void {
  errors.invalidFor(path.child("name"), device.name, dns1123Label(device.name));
  checkProperties(device, path, errors);
  const check = (taint: NonNullable<Device["taints"]>[number], at: FieldPath): void =>
    checkTaint(taint, at, errors);
  checkList(device.taints ?? [], { path: path.child("taints"), max: TAINTS_MAX, check }, errors);
  checkConsumptions(device, path.child("consumesCounters"), errors);
  if (isPlacedAlone) checkPlace(device, path, errors);
  else if (["nodeName", "nodeSelector", "allNodes"].some((name) => Object.hasOwn(device, name))) {
    errors.invalid(
      path,
      undefined,
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
    );
  }
  checkBindingConditions(device, path, errors);
}

/** Lists in attributes, taints and counters make a device large; a slice may hold fewer large devices. */
export function isLargeDevice(device: Device): boolean {
  const { taints = [], consumesCounters = [] } = device;
  return taints.length > 0 || consumesCounters.length > 0 || hasLists(device);
}

export function hasLists({ attributes = {} }: Device): boolean {
  return Object.values(attributes).some((attribute) => listsOf(attribute).length > 0);
}

function checkProperties(device: Device, path: FieldPath, errors: FieldErrors): void {
  const { attributes = {}, capacity = {}, allowMultipleAllocations: isShared = false } = device;
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > PROPERTIES_MAX) {
    const detail = `the total number of attributes and capacities must not exceed ${PROPERTIES_MAX}`;
    errors.invalid(path, count, detail);
  }
  const values = Object.values(attributes).reduce((sum, attribute) => sum + valueCount(attribute), 0);
  if (values > ATTRIBUTE_VALUES_MAX) {
    const detail = `the total number of attribute values must not exceed ${ATTRIBUTE_VALUES_MAX}`;
    errors.invalid(path, values, detail);
  }
  for (const [name, attribute] of Object.entries(attributes)) {
    checkAttributeName(name, path.child("attributes"), errors);
    checkAttribute(attribute, path.child("attributes").key(name), errors);
  }
  for (const [name, each] of Object.entries(capacity)) {
    checkAttributeName(name, path.child("capacity"), errors);
    checkCapacity(each, { path: path.child("capacity").key(name), isShared }, errors);
  }
}

function checkAttribute(attribute: DeviceAttribute, path: FieldPath, errors: FieldErrors): void {
  const { string, strings = [], version, versions = [] } = attribute;
  if (string !== undefined) checkText(string, path.child("string"), errors);
  if (version !== undefined) checkVersion(version, path.child("version"), errors);
  for (const [i, text] of strings.entries()) checkText(text, path.child("strings").index(i), errors);
  for (const [i, text] of versions.entries()) checkVersion(text, path.child("versions").index(i), errors);
  const count = Object.keys(attribute).length;
  if (count === 1) return;
  errors.invalid(path, count === 0 ? "" : attribute, "exactly one value must be specified");
}

function listsOf({ bools, ints, strings, versions }: DeviceAttribute): readonly (readonly unknown[])[] {
  return [bools, ints, strings, versions].filter((list) => list !== undefined);
}

function valueCount(attribute: DeviceAttribute): number {
  const inLists = listsOf(attribute).reduce((sum, list) => sum + list.length, 0);
  return Math.max(inLists, 1);
}

function checkText(text: string, path: FieldPath, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > TEXT_MAX_BYTES) errors.tooLong(path, TEXT_MAX_BYTES);
}

function checkVersion(text: string, path: FieldPath, errors: FieldErrors): void {
  // Text above the size limit is invalid and does not reach the pattern.
  if (text.length > TEXT_MAX_BYTES || findSemanticVersion(text) === undefined) {
    errors.invalid(path, text, "must be a string compatible with semver.org spec 2.0.0");
  }
  checkText(text, path, errors);
}

function checkConsumptions({ consumesCounters = [] }: Device, path: FieldPath, errors: FieldErrors): void {
  checkList(
    consumesCounters,
    {
      path,
      max: CONSUMPTIONS_MAX,
      check: ({ counterSet, counters = {} }, at) => {
        checkCounterName(counterSet, at.child("counterSet"), errors);
        checkCounters(counters, at.child("counters"), errors);
      },
      keyOf: ({ counterSet }) => counterSet,
    },
    errors,
  );
}

export function checkCounterName(name: string, path: FieldPath, errors: FieldErrors): void {
  if (name === "") errors.required(path);
  else errors.invalidFor(path, name, dns1123Label(name));
}

export function checkCounters(
  counters: Readonly<Record<string, Counter>>,
  path: FieldPath,
  errors: FieldErrors,
): void {
  const names = Object.keys(counters);
  if (names.length === 0) errors.required(path);
  if (names.length > COUNTERS_MAX) errors.tooMany(path, names.length, COUNTERS_MAX);
  else for (const name of names) errors.invalidFor(path, name, dns1123Label(name));
}

function checkPlace(
  { nodeName, nodeSelector, allNodes }: Device,
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (nodeName === "") errors.invalid(path.child("nodeName"), nodeName, "must not be empty");
  else if (nodeName !== undefined) {
    errors.invalidFor(path.child("nodeName"), nodeName, dns1123Subdomain(nodeName));
  }
  if (nodeSelector !== undefined) {
    checkNodeSelector(nodeSelector, { path: path.child("nodeSelector"), values: "strict" }, errors);
  }
  if (allNodes === false) {
    errors.invalid(path.child("allNodes"), allNodes, "must be either unset or set to true");
  }
  const set = [
    ...(nodeName === undefined || nodeName === "" ? [] : ["`nodeName`"]),
    ...(nodeSelector === undefined ? [] : ["`nodeSelector`"]),
    ...(allNodes === true ? ["`allNodes`"] : []),
  ];
  const detail =
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
  if (set.length === 0) errors.required(path, detail);
  if (set.length > 1) errors.invalid(path, `{${set.join(", ")}}`, detail);
}
