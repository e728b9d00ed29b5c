/** The CEL value of a device in selector expressions. */

import { quantity } from "../../api/cel/library/quantity-library.ts";
import { semver } from "../../api/cel/library/semver.ts";
import { CelMap, type CelValue, keyText, PlainMap, PlainRecord } from "../../api/cel/value.ts";
import type { Device, DeviceAttribute } from "../../api/generated/types/resource-v1.ts";
import { parseQuantity } from "../../api/values/quantity.ts";

const NOTHING = new PlainMap(new Map());

/** A domain that the device lacks reads as an empty map; `in` still returns false for it. */
class DomainMap extends CelMap {
  readonly #domains: PlainMap;

  constructor(domains: PlainMap) {
    super();
    this.#domains = domains;
  }

  get size(): number {
    return this.#domains.size;
  }

  find(key: CelValue): CelValue | undefined {
    return this.#domains.find(key) ?? NOTHING;
  }

  keys(): Iterable<CelValue> {
    return this.#domains.keys();
  }

  override has(key: CelValue): boolean {
    return this.#domains.has(key);
  }
}

export function deviceValue(driver: string, device: Device): CelValue {
  const { attributes = {}, capacity = {}, allowMultipleAllocations = false } = device;
  return new PlainRecord(
    "kubernetes.DRADevice",
    new Map<string, CelValue>([
      ["driver", driver],
      ["attributes", byDomain(driver, attributes, attributeValue)],
      ["capacity", byDomain(driver, capacity, ({ value }) => quantity(parseQuantity(value)))],
      ["allowMultipleAllocations", allowMultipleAllocations],
    ]),
  );
}

/** Names without a domain belong to the driver's domain. */
function byDomain<T>(
  driver: string,
  entries: Readonly<Record<string, T>>,
  valueOf: (entry: T) => CelValue | undefined,
): CelMap {
  const domains = new Map<string, [string, CelValue][]>();
  for (const [name, entry] of Object.entries(entries)) {
    const value = valueOf(entry);
    if (value === undefined) continue;
    const slash = name.indexOf("/");
    const domain = slash === -1 ? driver : name.slice(0, slash);
    const known = domains.get(domain) ?? [];
    known.push([name.slice(slash + 1), value]);
    domains.set(domain, known);
  }
  return new DomainMap(mapOf([...domains].map(([domain, inner]) => [domain, mapOf(inner)])));
}

function mapOf(entries: readonly (readonly [string, CelValue])[]): PlainMap {
  return new PlainMap(new Map(entries.map(([key, value]) => [keyText(key) ?? "", [key, value]])));
}

/** Undefined for lists, which belong to a disabled feature gate. */
function attributeValue({ int, bool, string, version }: DeviceAttribute): CelValue | undefined {
  if (int !== undefined) return BigInt(int);
  if (bool !== undefined) return bool;
  if (string !== undefined) return string;
  return version === undefined ? undefined : semver(version);
}
