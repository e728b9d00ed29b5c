/**
 * Bounds the work that one body asks for. Values are charged while a body is read, before they are defaulted, validated, tracked
 * and encoded: a short body may stand for many values, because an empty message is a struct with all its defaults.
 *
 * A unit is a value that later stages visit. Each stage of a write visits 200,000 units in less than 100 ms.
 */
import type { ListSchema, MapSchema, Schema, StructSchema } from "./schema/schema.ts";

export const WORK_MAX = 200_000;

/** The request is larger than the server works on; the server answers 413. */
export class TooLargeError extends RangeError {
  override readonly name = "TooLargeError";
}

/** What charges: a body has one budget. */
export interface WorkBudget {
  charge(units: number): void;
}

export class BodyWork implements WorkBudget {
  #left = WORK_MAX;

  get charged(): number {
    return WORK_MAX - this.#left;
  }

  /** Throws a TooLargeError when the body stands for more than that. */
  charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TooLargeError(`more than ${WORK_MAX} values with their defaults`);
  }
}

/** The values that defaults add to a struct with nothing in it, where these are more than one. Held true by charged-defaults.test.ts. */
const DEFAULTED: ReadonlyMap<string, number> = new Map([
  ["admissionregistration.v1.MatchResources", 3],
  ["admissionregistration.v1.MutatingWebhook", 6],
  ["admissionregistration.v1.ValidatingWebhook", 5],
  ["apiextensions.v1.CustomResourceDefinitionNames", 2],
  ["apiextensions.v1.CustomResourceDefinitionSpec", 4],
  ["autoscaling.v2.HPAScalingRules", 11],
  ["core.v1.AzureDiskVolumeSource", 4],
  ["core.v1.Container", 3],
  ["core.v1.EphemeralContainer", 3],
  ["core.v1.HTTPGetAction", 2],
  ["core.v1.PersistentVolumeClaim", 4],
  ["core.v1.Probe", 4],
  ["core.v1.RBDVolumeSource", 3],
  ["core.v1.ScaleIOVolumeSource", 2],
  ["discovery.v1.EndpointPort", 2],
  ["networking.v1.NetworkPolicySpec", 2],
  ["resource.v1.DeviceSubRequest", 2],
  ["resource.v1.ExactDeviceRequest", 2],
]);

/** A struct by itself: what its normal form always has, and its defaults. The fields that were sent come on top. */
export function unitsOfStruct(schema: StructSchema): number {
  if (schema.units > 0) return schema.units;
  let units = 1 + (DEFAULTED.get(schema.definition) ?? 1);
  for (const { schema: filled } of schema.filled)
    units += filled.type === "struct" ? unitsOfStruct(filled) : 1;
  schema.units = units;
  return units;
}

/** An item, without what is in it. The keys of an item are read and written by whoever looks for it. */
export function unitsOfItem({ keys }: ListSchema): number {
  return 1 + 2 * keys.length;
}

/** An entry, without what is in its value: its key is a name that is checked, and owned by itself. */
export function unitsOfEntry({ values }: MapSchema): number {
  return 3 + unitsOfScalar(values);
}

/** Quantities are numbers of any length, which are parsed again by whoever compares them. */
function unitsOfScalar({ type }: Schema): number {
  return type === "quantity" ? 4 : 1;
}
