/** DeviceClass: a set of devices that claims request by its name. */

import { type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type { DeviceClass } from "../../api/generated/types/resource-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isExtendedResource } from "../rules/resource-name.ts";
import { checkOpaque, checkSelectors } from "./claim-spec.ts";
import { checkList } from "./list-rules.ts";

const SPEC = fieldPath("spec");
const CONFIG_MAX = 32;

export const deviceClass = defineKind<DeviceClass>("resource.k8s.io/v1", "DeviceClass", {
  validate({ spec }, errors) {
    checkSelectors(spec.selectors ?? [], SPEC.child("selectors"), errors);
    const { config = [], extendedResourceName: name } = spec;
    const check = ({ opaque }: (typeof config)[number], path: FieldPath): void =>
      checkOpaque(opaque, path.child("opaque"), errors);
    checkList(config, { path: SPEC.child("config"), max: CONFIG_MAX, check }, errors);
    if (name !== undefined && !isExtendedResource(name)) {
      errors.invalid(SPEC.child("extendedResourceName"), name, "must be a valid extended resource name");
    }
  },

  /** A stored expression stays valid. */
  tolerates: ({ field }) => field.startsWith("spec.selectors["),

  cells: (it, now) => [it.metadata.name, ageText(it, now)],
});
