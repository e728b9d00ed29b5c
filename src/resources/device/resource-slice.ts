/** ResourceSlice: some of the devices that a driver has. */

import { type FieldErrors, fieldPath } from "../../api/field-error.ts";
import type { Device, ResourceSlice } from "../../api/generated/types/resource-v1.ts";
import { dns1123Label, dns1123Subdomain, qualifiedName } from "../../api/names.ts";
import { ageText } from "../human-duration.ts";
import { defineKind } from "../kind-rules.ts";
import { checkNodeSelector } from "../node-selector-rules.ts";
import { addNew, checkRequiredChoice } from "../value-rules.ts";
import { checkDriver, checkPoolName } from "./driver-name.ts";

const SPEC = fieldPath("spec");
const DEVICES_MAX = 128;
const PLACES = ["nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"] as const;

export const resourceSlice = defineKind<ResourceSlice>("resource.k8s.io/v1", "ResourceSlice", {
  validate(it, errors) {
    checkDriver(it.spec.driver, SPEC.child("driver"), errors);
    checkPool(it, errors);
    checkPlace(it, errors);
    checkDevices(it.spec.devices ?? [], errors);
  },

  validateUpdate({ spec: next }, { spec: previous }, errors) {
    errors.immutable("spec.driver", next.driver, previous.driver);
    errors.immutable("spec.pool.name", next.pool.name, previous.pool.name);
    errors.immutable("spec.nodeName", next.nodeName, previous.nodeName);
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

/** Where the devices are: on one node, on some, on all, or each where it says. */
function checkPlace({ spec }: ResourceSlice, errors: FieldErrors): void {
  const { nodeName, nodeSelector } = spec;
  const set = PLACES.filter((place) => spec[place] !== undefined && spec[place] !== false);
  const detail =
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (set.length === 0) errors.required(SPEC, detail);
  if (set.length > 1) {
    const named = set.map((place) => `\`${place}\``).join(", ");
    errors.invalid(SPEC, `{${named}}`, `${detail}, but multiple fields are set`);
  }
  if (nodeName !== undefined) {
    if (nodeName === "")
      errors.invalid(SPEC.child("nodeName"), nodeName, "must be either unset or set to a non-empty string");
    else errors.invalidFor(SPEC.child("nodeName"), nodeName, dns1123Subdomain(nodeName));
  }
  if (nodeSelector === undefined) return;
  checkNodeSelector(nodeSelector, { path: SPEC.child("nodeSelector"), values: "strict" }, errors);
  if (nodeSelector.nodeSelectorTerms.length > 1) {
    const path = SPEC.child("nodeSelector", "nodeSelectorTerms");
    errors.invalid(path, nodeSelector.nodeSelectorTerms, "must have exactly one node selector term");
  }
}

function checkDevices(devices: readonly Device[], errors: FieldErrors): void {
  const path = SPEC.child("devices");
  if (devices.length > DEVICES_MAX) errors.tooMany(path, devices.length, DEVICES_MAX);
  const names = new Set<string>();
  for (const [i, { name, taints = [] }] of devices.entries()) {
    const at = path.index(i);
    errors.invalidFor(at.child("name"), name, dns1123Label(name));
    if (!addNew(names, name)) errors.duplicate(at.child("name"), name);
    for (const [j, { key, effect }] of taints.entries()) {
      const taint = at.child("taints").index(j);
      errors.invalidFor(taint.child("key"), key, qualifiedName(key));
      checkRequiredChoice(
        { path: taint.child("effect"), value: effect, among: ["NoExecute", "NoSchedule", "None"] },
        errors,
      );
    }
  }
}
