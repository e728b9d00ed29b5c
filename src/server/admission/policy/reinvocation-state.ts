/**
 * Decides which policies run again in a reinvocation: policies with `IfNeeded` after which the object changed. As in
 * upstream, a mutation that changes nothing counts as well. The state lives as long as the pass.
 */
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { type AdmissionRequest, REINVOKE } from "../plugin.ts";

export class ReinvocationState {
  readonly #scratch: Map<string, unknown>;
  /** Keys of policies that ran and want a reinvocation. */
  readonly #willing = new Set<string>();
  /** Keys of those policies after which the object changed. */
  readonly #due = new Set<string>();
  #isAgain = false;
  #output: ApiObject | undefined;

  private constructor({ scratch }: AdmissionRequest) {
    this.#scratch = scratch;
  }

  static of(request: AdmissionRequest, plugin: string): ReinvocationState {
    const known = request.scratch.get(plugin);
    if (known instanceof ReinvocationState) {
      known.#isAgain = request.isReinvocation;
      return known;
    }
    const state = new ReinvocationState(request);
    request.scratch.set(plugin, state);
    return state;
  }

  begin(object: ApiObject): void {
    if (this.#isAgain && this.#output !== undefined && !jsonEqual(object, this.#output)) this.changed();
  }

  end(object: ApiObject): void {
    this.#output = object;
  }

  isDue(key: string): boolean {
    return !this.#isAgain || this.#due.has(key);
  }

  changed(): void {
    for (const key of this.#willing) this.#due.add(key);
    this.#willing.clear();
    if (!this.#isAgain) this.#scratch.set(REINVOKE, true);
  }

  /** A mutation ran, whether or not it changed the object. */
  finished(): void {
    if (this.#willing.size > 0) this.changed();
  }

  mayReinvoke(key: string): void {
    this.#willing.add(key);
  }
}
