/**
 * Which policies look at a request again: those that want to, once something was changed after they had their turn, and as upstream has it
 * once any policy had something to do. Lasts as long as the pass.
 */
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import { type AdmissionRequest, REINVOKE } from "../plugin.ts";

export class ReinvocationState {
  readonly #scratch: Map<string, unknown>;
  /** Those that had their turn and want another one. */
  readonly #willing = new Set<string>();
  /** Those among them after which something was changed. */
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

  /** Policies had something to do, whether or not it changed anything. */
  finished(): void {
    if (this.#willing.size > 0) this.changed();
  }

  mayReinvoke(key: string): void {
    this.#willing.add(key);
  }
}
