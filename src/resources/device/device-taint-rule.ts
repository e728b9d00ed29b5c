/** DeviceTaintRule: keeps pods off devices, whoever published them. */

import { fieldPath } from "../../api/field-error.ts";
import type { DeviceTaintRule } from "../../api/generated/types/resource-v1alpha3.ts";
import { qualifiedName } from "../../api/names.ts";
import { ageText, timeSince } from "../human-duration.ts";
import { defineKind } from "../kind-rules.ts";
import { checkRequiredChoice } from "../value-rules.ts";

const TAINT = fieldPath("spec", "taint");

export const deviceTaintRule = defineKind<DeviceTaintRule>("resource.k8s.io/v1alpha3", "DeviceTaintRule", {
  validate({ spec }, errors) {
    const { key, effect } = spec.taint;
    errors.invalidFor(TAINT.child("key"), key, qualifiedName(key));
    const among = ["NoExecute", "NoSchedule", "None"];
    checkRequiredChoice({ path: TAINT.child("effect"), value: effect, among }, errors);
  },

  cells: (it, now) => {
    const { key, value = "", effect, timeAdded } = it.spec.taint;
    const added = timeAdded === undefined ? "" : timeSince(timeAdded, now);
    return [it.metadata.name, key, value, effect, added, ageText(it, now)];
  },
});
