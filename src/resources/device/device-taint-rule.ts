/** DeviceTaintRule: taints devices of any driver, so that pods do not use them. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { DeviceTaintRule } from "../../api/generated/types/resource-v1alpha3.ts";
import { dns1123Label } from "../../api/values/names.ts";
import { checkConditions } from "../rules/condition-rules.ts";
import { ageText, timeSince } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";
import { checkDriverName } from "../storage/csi-driver-name.ts";
import { checkPoolName } from "./driver-name.ts";
import { addTaintTime, checkTaint } from "./taint-rules.ts";

const SELECTOR = fieldPath("spec", "deviceSelector");
const CONDITIONS = fieldPath("status", "conditions");
const CONDITIONS_MAX = 8;

export const deviceTaintRule = defineKind<DeviceTaintRule>("resource.k8s.io/v1alpha3", "DeviceTaintRule", {
  prepareCreate({ spec }, { now }) {
    spec.taint = { ...spec.taint };
    addTaintTime(spec.taint, now);
  },

  /** A new effect restarts the taint's time, unless the update sets one. */
  prepareUpdate({ spec: { taint } }, { spec: { taint: before } }, { now }) {
    if (taint.effect !== before.effect && taint.timeAdded === before.timeAdded) delete taint.timeAdded;
    addTaintTime(taint, now);
  },

  validate(rule, errors) {
    checkSelector(rule, errors);
    checkTaint(rule.spec.taint, fieldPath("spec", "taint"), errors);
  },

  statusKeeps: ALL_METADATA,
  validateStatus({ status: { conditions = [] } }, _previous, errors) {
    checkConditions(conditions, CONDITIONS, errors);
    if (conditions.length > CONDITIONS_MAX) errors.tooMany(CONDITIONS, conditions.length, CONDITIONS_MAX);
  },

  cells: (it, now) => {
    const { key, value = "", effect, timeAdded } = it.spec.taint;
    const added = timeAdded === undefined ? "" : timeSince(timeAdded, now);
    return [it.metadata.name, key, value, effect, added, ageText(it, now)];
  },
});

function checkSelector({ spec: { deviceSelector = {} } }: DeviceTaintRule, errors: FieldErrors): void {
  const { driver, pool, device } = deviceSelector;
  if (driver !== undefined) checkDriverName(driver, SELECTOR.child("driver"), errors);
  if (pool !== undefined) checkPoolName(pool, SELECTOR.child("pool"), errors);
  if (device !== undefined) errors.invalidFor(SELECTOR.child("device"), device, dns1123Label(device));
}
