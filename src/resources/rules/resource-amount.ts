/** Validates resource amounts of nodes, quotas and runtime classes. */

import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { quoted } from "../../api/values/message-text.ts";
import { parseQuantity, quantityMilliValue } from "../../api/values/quantity.ts";
import { isWholeResource } from "./resource-name.ts";
import { ownValue } from "./value-rules.ts";

export type ResourceList = Readonly<Record<string, string>>;

export interface NamedAmount {
  readonly name: string;
  readonly amount: string;
}

/** Amounts must not be negative. Countable resources must be integers. */
export function checkAmount({ name, amount }: NamedAmount, path: FieldPath, errors: FieldErrors): void {
  const quantity = parseQuantity(amount);
  if (quantity.nano < 0n) errors.invalid(path, amount, "must be greater than or equal to 0");
  if (isWholeResource(name) && quantityMilliValue(quantity) % 1000n !== 0n) {
    errors.invalid(path, amount, "must be an integer");
  }
}

/** Warns about fractions of a byte. */
export function byteWarnings(
  list: ResourceList | undefined,
  name: string,
  path: FieldPath,
): readonly string[] {
  const amount = ownValue(list, name);
  if (amount === undefined || quantityMilliValue(parseQuantity(amount)) % 1000n === 0n) return [];
  return [
    `${path.key(name).toString()}: fractional byte value ${quoted(amount)} is invalid, must be an integer`,
  ];
}
