/** Evaluates the selector expressions of classes and requests. Results are cached per device. */

import { Allowance, Effort } from "../../../api/cel/allowance.ts";
import { CelBudgetError, CelCompileError } from "../../../api/cel/cel-error.ts";
import type { Program } from "../../../api/cel/program.ts";
import type { CelValue } from "../../../api/cel/value.ts";
import type { Device, DeviceSelector } from "../../../api/generated/types/resource-v1.ts";
import { errorText } from "../../../base/error-text.ts";
import { compileSelector } from "../../../resources/device/device-selector.ts";
import { deviceValue } from "../../../resources/device/device-value.ts";
import { AllocationTimeout } from "./allocation-timeout.ts";
import type { PoolDevice } from "./device-pools.ts";

/** Upper bound of compiled expressions; most clusters have few. */
const PROGRAMS_MAX = 256;
/** Upper bound of cached results per device; beyond it, results are recomputed. */
const ANSWERS_MAX = 32;

/** Effort charged per compiled character; 100,000 characters take about 0.1 s. */
const EFFORT_PER_CHAR = 4;

interface KnownDevice {
  readonly value: CelValue;
  /** Results by expression. */
  readonly answers: Map<string, boolean>;
}

/** Matcher for one attempt of one pod. Cached results stay, so that the next attempt continues where this one stopped. */
export interface DeviceMatcher {
  /**
   * True if all selectors match the device. `owner` names their origin in errors. Throws AllocationTimeout if this attempt's expressions exceed
   * their total budget.
   */
  match(selectors: readonly DeviceSelector[], device: PoolDevice, owner: string): boolean;
}

export class DeviceSelectors {
  readonly #programs = new Map<string, Program | CelCompileError>();
  readonly #known = new WeakMap<Device, KnownDevice>();

  matcher(): DeviceMatcher {
    // Each expression has Kubernetes' cost limit. The total has a limit of effort, as the evaluation blocks other pods.
    const allowance = new Allowance(Infinity, new Effort());
    return {
      match: (selectors, device, owner) =>
        selectors.every(({ cel }, at) => {
          try {
            return this.#matches(cel?.expression ?? "", device, allowance);
          } catch (error) {
            if (error instanceof CelBudgetError && allowance.isSpent) throw new AllocationTimeout();
            throw mistake(error, `${owner}: selector #${String(at)}`, device);
          }
        }),
    };
  }

  #matches(expression: string, { driver, device }: PoolDevice, allowance: Allowance): boolean {
    const known: KnownDevice = this.#known.get(device) ?? {
      value: deviceValue(driver, device),
      answers: new Map<string, boolean>(),
    };
    this.#known.set(device, known);
    const answered = known.answers.get(expression);
    if (answered !== undefined) return answered;
    const program = this.#compile(expression, allowance);
    if (program instanceof CelCompileError) throw program;
    const value = allowance.evaluate(program, { device: known.value });
    if (typeof value !== "boolean") throw new Error("CEL result could not be converted to bool");
    if (known.answers.size >= ANSWERS_MAX) known.answers.clear();
    known.answers.set(expression, value);
    return value;
  }

  #compile(expression: string, allowance: Allowance): Program | CelCompileError {
    const known = this.#programs.get(expression);
    if (known !== undefined) return known;
    allowance.within((run) => run.charge(expression.length * EFFORT_PER_CHAR));
    const program = compileSelector(expression);
    if (this.#programs.size >= PROGRAMS_MAX) this.#programs.clear();
    this.#programs.set(expression, program);
    return program;
  }
}

function mistake(error: unknown, place: string, device: PoolDevice): Error {
  const message = errorText(error);
  const what =
    error instanceof CelCompileError
      ? `${place}: CEL compile error: ${message}`
      : `${place} on device ${device.key}: CEL runtime error: ${message}`;
  return new Error(what, { cause: error });
}
