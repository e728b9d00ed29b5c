/**
 * What an update may leave wrong. Earlier versions of the API stored values that are refused today; whoever changes
 * something else of such an object is not held up by them. The server asks these only about errors that the object had
 * before, word for word.
 */

import type { FieldError } from "../../api/errors/field-error.ts";

const SELECTOR_VALUE = /\.matchExpressions\[\d+\]\.values\[\d+\]$/;
const SPREAD_SELECTOR = /\.topologySpreadConstraints\[\d+\]\.labelSelector\b/;
const TOKEN_PATH = /\.projected\.path$/;
const DEVICES = /\.volumeDevices$/;
const INIT_RESIZE_POLICY = /\.initContainers\[\d+\]\.resizePolicy$/;

/** A value in a selector that no label can have: it selects nothing, or everything else. */
export function isSelectorValueError({ type, field }: FieldError): boolean {
  return type === "FieldValueInvalid" && SELECTOR_VALUE.test(field);
}

/** The same in a pod or its template, and four more of its places. */
export function isOldPodError(error: FieldError): boolean {
  const { type, field } = error;
  const isOldValue =
    type === "FieldValueInvalid" && [TOKEN_PATH, INIT_RESIZE_POLICY].some((place) => place.test(field));
  const areOldDevices = type === "FieldValueForbidden" && DEVICES.test(field);
  return isSelectorValueError(error) || isOldValue || areOldDevices || SPREAD_SELECTOR.test(field);
}
