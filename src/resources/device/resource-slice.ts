/** ResourceSlice: some of the devices of a driver. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { Device, ResourceSlice } from "../../api/generated/types/resource-v1.ts";
import { cloneJson } from "../../api/json/json-clone.ts";
import { quoted } from "../../api/values/message-text.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import { checkNodeSelector } from "../node/node-selector-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { checkDriverName } from "../storage/csi-driver-name.ts";
import { checkCounterName, checkCounters, checkDevice, hasLists, isLargeDevice } from "./device-rules.ts";
import { checkPoolName } from "./driver-name.ts";
import { checkList } from "./list-rules.ts";
import { addTaintTime } from "./taint-rules.ts";

const SPEC = fieldPath("spec");
const DEVICES_MAX = 128;
const LARGE_DEVICES_MAX = 64;
const COUNTER_SETS_MAX = 8;
const PLACES = ["nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"] as const;

export const resourceSlice = defineKind<ResourceSlice>("resource.k8s.io/v1", "ResourceSlice", {
  prepareCreate(draft, { now }) {
    if (draft.spec.devices !== undefined) draft.spec.devices = cloneJson(draft.spec.devices);
    for (const field of OFF) dropField(draft, field);
    addTaintTimes(draft, now);
  },

  prepareUpdate(draft, previous, { now }) {
    for (const field of OFF) {
      if (!previous.spec.devices?.some(field.isUsed)) dropField(draft, field);
    }
    addTaintTimes(draft, now);
  },

  validate(it, errors) {
    checkDriverName(it.spec.driver, SPEC.child("driver"), errors);
    checkPool(it, errors);
    checkPlace(it, errors);
    checkDevices(it, errors);
    checkCounterSets(it, errors);
  },

  validateUpdate({ spec: next }, { spec: previous }, errors) {
    errors.immutable("spec.pool.name", next.pool.name, previous.pool.name);
    errors.immutable("spec.driver", next.driver, previous.driver);
    errors.immutable("spec.nodeName", next.nodeName, previous.nodeName);
  },

  warnings({ spec: { driver } }) {
    if (driver === driver.toLowerCase()) return [];
    return [`spec.driver: driver names should be lowercase; ${quoted(driver)} contains uppercase characters`];
  },

  fields: ({ spec }) => ({ "spec.driver": spec.driver, "spec.nodeName": spec.nodeName ?? "" }),

  cells: (it, now) => [
    it.metadata.name,
    it.spec.nodeName ?? "",
    it.spec.driver,
    it.spec.pool.name,
    ageText(it, now),
  ],
});

/** Fields of a device that belong to a feature gate that is off by default. */
interface OffField {
  isUsed(this: void, device: Device): boolean;
  drop(this: void, device: Draft<Device>): void;
}

const OFF: readonly OffField[] = [
  { isUsed: hasLists, drop: dropLists },
  {
    isUsed: ({ nodeAllocatableResourceMappings }) => nodeAllocatableResourceMappings !== undefined,
    drop: (device) => {
      delete device.nodeAllocatableResourceMappings;
    },
  },
];

function dropField({ spec }: Draft<ResourceSlice>, { drop }: OffField): void {
  for (const device of spec.devices ?? []) drop(device);
}

function dropLists({ attributes = {} }: Draft<Device>): void {
  for (const attribute of Object.values(attributes)) {
    delete attribute.bools;
    delete attribute.ints;
    delete attribute.strings;
    delete attribute.versions;
  }
}

function addTaintTimes({ spec }: Draft<ResourceSlice>, now: number): void {
  for (const { taints = [] } of spec.devices ?? []) {
    for (const taint of taints) addTaintTime(taint, now);
  }
}

function checkPool({ spec: { pool } }: ResourceSlice, errors: FieldErrors): void {
  const path = SPEC.child("pool");
  checkPoolName(pool.name, path.child("name"), errors);
  if (pool.resourceSliceCount <= 0) {
    errors.invalid(path.child("resourceSliceCount"), pool.resourceSliceCount, "must be greater than zero");
  }
  if (pool.generation < 0) {
    errors.invalid(path.child("generation"), pool.generation, "must be greater than or equal to zero");
  }
}

/** The nodes of the devices: one, some, all, or a selection for each device. */
function checkPlace({ spec }: ResourceSlice, errors: FieldErrors): void {
  const { nodeName, nodeSelector } = spec;
  if (nodeName === "")
    errors.invalid(SPEC.child("nodeName"), nodeName, "must be either unset or set to a non-empty string");
  else if (nodeName !== undefined) {
    errors.invalidFor(SPEC.child("nodeName"), nodeName, dns1123Subdomain(nodeName));
  }
  if (nodeSelector !== undefined) {
    checkNodeSelector(nodeSelector, { path: SPEC.child("nodeSelector"), values: "strict" }, errors);
    const { nodeSelectorTerms: terms } = nodeSelector;
    if (terms.length !== 1) {
      const path = SPEC.child("nodeSelector", "nodeSelectorTerms");
      errors.invalid(path, terms, "must have exactly one node selector term");
    }
  }
  for (const name of ["allNodes", "perDeviceNodeSelection"] as const) {
    if (spec[name] === false) errors.invalid(SPEC.child(name), false, "must be either unset or set to true");
  }
  const set = PLACES.filter(
    (place) => spec[place] !== undefined && spec[place] !== false && spec[place] !== "",
  );
  const detail =
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (set.length === 0) errors.required(SPEC, detail);
  if (set.length > 1) {
    const named = set.map((place) => `\`${place}\``).join(", ");
    errors.invalid(SPEC, `{${named}}`, `${detail}, but multiple fields are set`);
  }
}

function checkDevices({ spec }: ResourceSlice, errors: FieldErrors): void {
  const { devices = [], perDeviceNodeSelection: isPlacedAlone = false } = spec;
  if (spec.sharedCounters !== undefined && spec.devices !== undefined) {
    errors.invalid(SPEC, "", "only one of `sharedCounters` or `devices` is allowed");
  }
  const max = devices.some(isLargeDevice) ? LARGE_DEVICES_MAX : DEVICES_MAX;
  checkList(
    devices,
    {
      path: SPEC.child("devices"),
      max,
      check: (device, path) => checkDevice(device, { path, isPlacedAlone }, errors),
      keyOf: ({ name }) => name,
    },
    errors,
  );
}

function checkCounterSets({ spec: { sharedCounters = [] } }: ResourceSlice, errors: FieldErrors): void {
  checkList(
    sharedCounters,
    {
      path: SPEC.child("sharedCounters"),
      max: COUNTER_SETS_MAX,
      check: ({ name, counters = {} }, path) => {
        checkCounterName(name, path.child("name"), errors);
        checkCounters(counters, path.child("counters"), errors);
      },
      keyOf: ({ name }) => name,
    },
    errors,
  );
}
