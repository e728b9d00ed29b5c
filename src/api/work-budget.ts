/**
 * Bounds the work that one request body causes. Decoders charge values while they read a body, before defaulting,
 * validation, tracking and encoding. A short body may expand to many values, because an empty message is a struct with
 * all its defaults.
 *
 * A unit is one value that later stages visit. Each stage of a write visits 160,000 units in less than 100 ms.
 */
import type { ListSchema, MapSchema, Schema, StructSchema } from "./schema/schema.ts";

export const WORK_MAX = 160_000;

/** The request is larger than the server accepts; the server answers 413. */
export class TooLargeError extends RangeError {
  override readonly name = "TooLargeError";
}

/** Counts the units of one body. Each body has its own budget. */
export interface WorkBudget {
  charge(units: number): void;
}

export class BodyWork implements WorkBudget {
  #left = WORK_MAX;

  get charged(): number {
    return WORK_MAX - this.#left;
  }

  /** Throws a TooLargeError once the body exceeds WORK_MAX units. */
  charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TooLargeError(`more than ${WORK_MAX} values with their defaults`);
  }
}

/**
 * Number of values that defaulting adds to an empty struct, where it exceeds one. charged-defaults.test.ts checks the
 * numbers.
 */
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

/**
 * Units of an empty struct: the fields that its normal form always has, and its defaults. Fields in the request are
 * charged separately.
 */
export function unitsOfStruct(schema: StructSchema): number {
  if (schema.units > 0) return schema.units;
  let units = 1 + (DEFAULTED.get(schema.definition) ?? 1);
  for (const { schema: filled } of schema.filled)
    units += filled.type === "struct" ? unitsOfStruct(filled) : 1;
  schema.units = units;
  return units;
}

/**
 * Units of a list item without its content. List keys are charged twice: later stages read and write them to find the
 * item.
 */
export function unitsOfItem({ keys }: ListSchema): number {
  return 1 + 2 * keys.length;
}

/** Units of a map entry without the content of its value. The key is validated, and has an owner of its own. */
export function unitsOfEntry({ values }: MapSchema): number {
  return 3 + unitsOfScalar(values);
}

/** A quantity costs more: it is a number of any length, and later stages parse it again to compare it. */
function unitsOfScalar({ type }: Schema): number {
  return type === "quantity" ? 4 : 1;
}
