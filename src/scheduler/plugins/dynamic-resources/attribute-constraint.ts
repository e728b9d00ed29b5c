/** A claim's constraint: the devices of its requests must share an attribute value, or all differ in it. */

import type { Device, DeviceAttribute, DeviceConstraint } from "../../../api/generated/types/resource-v1.ts";
import { ownValue } from "../../../resources/rules/value-rules.ts";
import type { Alternative } from "./claim-requests.ts";
import type { PoolDevice } from "./device-pools.ts";

export class AttributeConstraint {
  readonly #requests: ReadonlySet<string>;
  readonly #attribute: string;
  readonly #isDistinct: boolean;
  /** Values of the added devices, in order. */
  readonly #values: string[] = [];

  constructor({ requests = [], matchAttribute, distinctAttribute }: DeviceConstraint) {
    this.#requests = new Set(requests);
    this.#attribute = matchAttribute ?? distinctAttribute ?? "";
    this.#isDistinct = matchAttribute === undefined;
  }

  /** Adds the device if the constraint allows it; returns true if it does. */
  add(alternative: Alternative, { driver, device }: PoolDevice): boolean {
    if (!this.#concerns(alternative)) return true;
    const value = attributeText(device, driver, this.#attribute);
    if (value === undefined) return false;
    const [first = value] = this.#values;
    const isFitting = this.#isDistinct ? !this.#values.includes(value) : first === value;
    if (isFitting) this.#values.push(value);
    return isFitting;
  }

  /** Removes the last device added for a request of the constraint. */
  remove(alternative: Alternative): void {
    if (this.#concerns(alternative)) this.#values.pop();
  }

  #concerns({ name, requestName }: Alternative): boolean {
    return this.#requests.size === 0 || this.#requests.has(name) || this.#requests.has(requestName);
  }
}

/** A name without a domain belongs to the driver. Undefined if the device lacks the attribute. */
function attributeText({ attributes }: Device, driver: string, name: string): string | undefined {
  const own = `${driver}/`;
  const found =
    ownValue(attributes, name) ??
    (name.startsWith(own) ? ownValue(attributes, name.slice(own.length)) : undefined);
  return found === undefined ? undefined : valueText(found);
}

/** The type is part of the text: values of different types are never equal. */
function valueText({ string, int, bool, version }: DeviceAttribute): string | undefined {
  if (string !== undefined) return `string ${string}`;
  if (int !== undefined) return `int ${String(int)}`;
  if (bool !== undefined) return `bool ${String(bool)}`;
  return version === undefined ? undefined : `version ${version}`;
}
