/**
 * Errors that an update may keep. Earlier API versions accepted values that are invalid today. These objects
 * stay updatable: the server tolerates an error that the stored object had with the same text.
 */

import type { FieldError } from "../../api/errors/field-error.ts";

const SELECTOR_VALUE = /\.matchExpressions\[\d+\]\.values\[\d+\]$/;
const SPREAD_SELECTOR = /\.topologySpreadConstraints\[\d+\]\.labelSelector\b/;
const TOKEN_PATH = /\.projected\.path$/;
const DEVICES = /\.volumeDevices$/;
const INIT_RESIZE_POLICY = /\.initContainers\[\d+\]\.resizePolicy$/;

/** A selector value that is no valid label value: it matches no label. */
export function isSelectorValueError({ type, field }: FieldError): boolean {
  return type === "FieldValueInvalid" && SELECTOR_VALUE.test(field);
}

/** The same for pods and pod templates, and four further fields of them. */
export function isOldPodError(error: FieldError): boolean {
  const { type, field } = error;
  const isOldValue =
    type === "FieldValueInvalid" && [TOKEN_PATH, INIT_RESIZE_POLICY].some((place) => place.test(field));
  const areOldDevices = type === "FieldValueForbidden" && DEVICES.test(field);
  return isSelectorValueError(error) || isOldValue || areOldDevices || SPREAD_SELECTOR.test(field);
}
