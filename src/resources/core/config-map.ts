/** ConfigMap: configuration as text and bytes. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type { ConfigMap } from "../../api/generated/types/core-v1.ts";
import { configMapKey } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { isSame } from "../rules/value-rules.ts";

/**
 * Upper bound of all values of a ConfigMap or a Secret together, so that one object cannot fill the store.
 */
export const DATA_MAX_BYTES = 1024 * 1024;

const IMMUTABLE_WHEN_SET = "field is immutable when `immutable` is set";

export const configMap = defineKind<ConfigMap>("v1", "ConfigMap", {
  validate({ data = {}, binaryData = {} }, errors) {
    for (const key of Object.keys(data)) {
      const path = fieldPath("data").key(key);
      errors.invalidFor(path, key, configMapKey(key));
      if (Object.hasOwn(binaryData, key)) errors.invalid(path, key, "duplicate of key present in binaryData");
    }
    for (const key of Object.keys(binaryData)) {
      errors.invalidFor(fieldPath("binaryData").key(key), key, configMapKey(key));
    }
    // Upstream names the object itself `[]`.
    if (textBytes(data) + decodedBytes(binaryData) > DATA_MAX_BYTES) errors.tooLong("[]", DATA_MAX_BYTES);
  },

  validateUpdate(next, previous, errors) {
    if (previous.immutable !== true) return;
    refuseDataChanges(next, previous, errors);
    if (!isSame(next.binaryData, previous.binaryData)) errors.forbidden("binaryData", IMMUTABLE_WHEN_SET);
  },

  cells: (it, now) => [
    it.metadata.name,
    Object.keys(it.data ?? {}).length + Object.keys(it.binaryData ?? {}).length,
    ageText(it, now),
  ],
});

interface Lockable {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/** Reports changes of `immutable` and `data` in an immutable object. */
export function refuseDataChanges(next: Lockable, previous: Lockable, errors: FieldErrors): void {
  if (next.immutable !== true) errors.forbidden("immutable", IMMUTABLE_WHEN_SET);
  if (!isSame(next.data, previous.data)) errors.forbidden("data", IMMUTABLE_WHEN_SET);
}

/** Number of bytes that the base64 values decode to. */
export function decodedBytes(values: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const value of Object.values(values)) bytes += Buffer.byteLength(value, "base64");
  return bytes;
}

function textBytes(values: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const value of Object.values(values)) bytes += Buffer.byteLength(value);
  return bytes;
}
