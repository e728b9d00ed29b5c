/** Chooses the runtime handler of a pod: by its RuntimeClass, else the node's default. */
import type { Pod } from "../api/generated/types/core-v1.ts";
import type { RuntimeClass } from "../api/generated/types/node-v1.ts";
import type { RuntimeHandler } from "./runtime-handler.ts";

export interface HandlerChoiceParts {
  /** The first one runs pods without a RuntimeClass. */
  readonly handlers: readonly [RuntimeHandler, ...RuntimeHandler[]];
  readonly findRuntimeClass: (name: string) => RuntimeClass | undefined;
  /** Runs static pods, which no RuntimeClass applies to. */
  readonly statics?: StaticHandler | undefined;
}

export interface StaticHandler {
  readonly handler: RuntimeHandler;
  readonly has: (pod: Pod) => boolean;
}

export type HandlerFinding =
  | { readonly type: "handler"; readonly handler: RuntimeHandler }
  | { readonly type: "problem"; readonly message: string };

export class HandlerChoice {
  readonly #parts: HandlerChoiceParts;
  /** Handlers of the sandboxes that ran before the agent. A RuntimeClass may have changed since. */
  readonly #owners = new Map<string, RuntimeHandler>();

  constructor(parts: HandlerChoiceParts) {
    this.#parts = parts;
  }

  /** Notes the sandboxes that run already, and returns their uids. */
  async recover(): Promise<readonly string[]> {
    const found = await Promise.all(
      this.#parts.handlers.map(async (handler) => ({ handler, sandboxes: await handler.list() })),
    );
    for (const { handler, sandboxes } of found)
      for (const { uid } of sandboxes) this.#owners.set(uid, handler);
    return [...this.#owners.keys()];
  }

  /** Whether the pod ran before the agent. */
  hasRun(uid: string): boolean {
    return this.#owners.has(uid);
  }

  /** Removes a sandbox that ran before the agent and whose pod is gone. */
  remove(uid: string): void {
    this.#owners.get(uid)?.removeSandbox(uid);
    this.#owners.delete(uid);
  }

  forget(uid: string): void {
    this.#owners.delete(uid);
  }

  find(pod: Pod): HandlerFinding {
    const { metadata, spec } = pod;
    const { handlers, findRuntimeClass, statics } = this.#parts;
    if (statics?.has(pod) === true) return { type: "handler", handler: statics.handler };
    const owner = this.#owners.get(metadata.uid);
    if (owner !== undefined) return { type: "handler", handler: owner };
    const { runtimeClassName: name } = spec;
    if (name === undefined) return { type: "handler", handler: handlers[0] };
    const wanted = findRuntimeClass(name)?.handler;
    if (wanted === undefined) return { type: "problem", message: `RuntimeClass "${name}" not found` };
    const handler = handlers.find((each) => each.name === wanted);
    if (handler !== undefined) return { type: "handler", handler };
    const message = `failed to get sandbox runtime: no runtime for "${wanted}" is configured`;
    return { type: "problem", message };
  }
}
