/** Which devices the expressions of classes and requests mean. What was found out about a device is kept with it. */

import { CelCompileError } from "../../../api/cel/cel-error.ts";
import { CALL_BUDGET, type Program } from "../../../api/cel/program.ts";
import type { CelValue } from "../../../api/cel/value.ts";
import type { Device, DeviceSelector } from "../../../api/generated/types/resource-v1.ts";
import { compileSelector } from "../../../resources/device/device-selector.ts";
import { deviceValue } from "../../../resources/device/device-value.ts";
import type { PoolDevice } from "./device-pools.ts";

/** Most clusters have a handful. */
const PROGRAMS_MAX = 256;
/** For each device; a cluster in which they differ from claim to claim finds them out anew. */
const ANSWERS_MAX = 32;

interface KnownDevice {
  readonly value: CelValue;
  /** By expression. */
  readonly answers: Map<string, boolean>;
}

export class DeviceSelectors {
  readonly #programs = new Map<string, Program | CelCompileError>();
  readonly #known = new WeakMap<Device, KnownDevice>();

  /** Whether all of them mean the device; `owner` is whose they are, for the message of an error. */
  match(selectors: readonly DeviceSelector[], device: PoolDevice, owner: string): boolean {
    for (const [at, { cel }] of selectors.entries()) {
      try {
        if (!this.#matches(cel?.expression ?? "", device)) return false;
      } catch (error) {
        if (error instanceof CelCompileError)
          throw new Error(`${owner}: selector #${String(at)}: CEL compile error: ${error.message}`, {
            cause: error,
          });
        const message = error instanceof Error ? error.message : String(error);
        const place = `${owner}: selector #${String(at)} on device ${device.key}`;
        throw new Error(`${place}: CEL runtime error: ${message}`, { cause: error });
      }
    }
    return true;
  }

  #matches(expression: string, { driver, device }: PoolDevice): boolean {
    const known: KnownDevice = this.#known.get(device) ?? {
      value: deviceValue(driver, device),
      answers: new Map<string, boolean>(),
    };
    this.#known.set(device, known);
    const answered = known.answers.get(expression);
    if (answered !== undefined) return answered;
    const program = this.#compile(expression);
    if (program instanceof CelCompileError) throw program;
    const value = program.evaluate({ device: known.value }, { budget: CALL_BUDGET });
    if (typeof value !== "boolean") throw new Error("CEL result could not be converted to bool");
    if (known.answers.size >= ANSWERS_MAX) known.answers.clear();
    known.answers.set(expression, value);
    return value;
  }

  #compile(expression: string): Program | CelCompileError {
    const known = this.#programs.get(expression);
    if (known !== undefined) return known;
    const program = compileSelector(expression);
    if (this.#programs.size >= PROGRAMS_MAX) this.#programs.clear();
    this.#programs.set(expression, program);
    return program;
  }
}
