/** Memory in use by the containers of a pod while a resize needs it. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { PodUsage, RuntimeHandler } from "../runtime-handler.ts";

/** Time for which a measurement is valid, unless the pod changes. */
const VALID_MS = 10_000;

export class MemoryMeasurement {
  #bytes: ReadonlyMap<string, number> = new Map();
  #of: { readonly pod: Pod; readonly at: number } | undefined;
  #isMeasuring = false;

  /** No measurement is in flight. */
  get isSettled(): boolean {
    return !this.#isMeasuring;
  }

  /** Bytes; 0 while the container does not run. */
  bytesOf(container: string): number {
    return this.#bytes.get(container) ?? 0;
  }

  /** Measures unless a valid result is known. Calls `settled` with a new result. */
  begin(handler: RuntimeHandler, pod: Pod, { now, settled }: { now: number; settled: () => void }): void {
    const isValid = this.#of !== undefined && this.#of.pod === pod && now - this.#of.at < VALID_MS;
    if (isValid || this.#isMeasuring) return;
    this.#isMeasuring = true;
    const settle = (usage: PodUsage | undefined): void => {
      this.#bytes = new Map(usage?.containers.map(({ name, memoryBytes }) => [name, memoryBytes]));
      this.#of = { pod, at: now };
      this.#isMeasuring = false;
      settled();
    };
    handler.usage(pod.metadata.uid).then(settle, () => settle(undefined));
  }
}
