/** A constraint of a claim: devices of its requests must be alike in an attribute, or all differ in it. */

import type { Device, DeviceAttribute, DeviceConstraint } from "../../../api/generated/types/resource-v1.ts";
import { ownValue } from "../../../resources/rules/value-rules.ts";
import type { PoolDevice } from "./device-pools.ts";
import type { Alternative } from "./wish.ts";

export class AttributeConstraint {
  readonly #requests: ReadonlySet<string>;
  readonly #attribute: string;
  readonly #isDistinct: boolean;
  /** Of the devices that were added, in their order. */
  readonly #values: string[] = [];

  constructor({ requests = [], matchAttribute, distinctAttribute }: DeviceConstraint) {
    this.#requests = new Set(requests);
    this.#attribute = matchAttribute ?? distinctAttribute ?? "";
    this.#isDistinct = matchAttribute === undefined;
  }

  /** Answers whether the device may be added; then it is. */
  add(alternative: Alternative, { driver, device }: PoolDevice): boolean {
    if (!this.#concerns(alternative)) return true;
    const value = attributeText(device, driver, this.#attribute);
    if (value === undefined) return false;
    const [first = value] = this.#values;
    const isFitting = this.#isDistinct ? !this.#values.includes(value) : first === value;
    if (isFitting) this.#values.push(value);
    return isFitting;
  }

  /** Takes the device away that was added last for such a request. */
  remove(alternative: Alternative): void {
    if (this.#concerns(alternative)) this.#values.pop();
  }

  #concerns({ name, requestName }: Alternative): boolean {
    return this.#requests.size === 0 || this.#requests.has(name) || this.#requests.has(requestName);
  }
}

/** A name without a domain is the driver's own. Undefined when the device has no such attribute. */
function attributeText({ attributes }: Device, driver: string, name: string): string | undefined {
  const own = `${driver}/`;
  const found =
    ownValue(attributes, name) ??
    (name.startsWith(own) ? ownValue(attributes, name.slice(own.length)) : undefined);
  return found === undefined ? undefined : valueText(found);
}

/** Values of different types are never equal. */
function valueText({ string, int, bool, version }: DeviceAttribute): string | undefined {
  if (string !== undefined) return `string ${string}`;
  if (int !== undefined) return `int ${String(int)}`;
  if (bool !== undefined) return `bool ${String(bool)}`;
  return version === undefined ? undefined : `version ${version}`;
}
