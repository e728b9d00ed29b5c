/** Runs what a server does by itself, and knows how far its start and its shutdown are. */
import type { BootProgress, BootStep } from "./boot-steps.ts";
import type { ServerAddress, UpkeepOptions } from "./create-upkeep.ts";
import type { Upkeep } from "./upkeep.ts";

/** Work that follows data in the store. */
export interface Follower {
  /** Whether the existing data has been read and changes are watched. */
  readonly isFollowing: boolean;
  run(signal: AbortSignal): Promise<void>;
}

export interface RunParts {
  readonly definitions: Follower;
  readonly aggregation: Follower;
  /** Called once, when the address is known. */
  readonly createUpkeep: (address: ServerAddress) => Upkeep;
}

export class ServerRun {
  readonly #parts: RunParts;
  /** Startup steps, for the parts that this server has. */
  readonly boot: BootProgress;
  /** Work that follows data in the store, by upstream's name of the informer. */
  readonly followed: Readonly<Record<string, Follower>>;
  #upkeep: Upkeep | undefined;
  #isEnding = false;

  constructor(parts: RunParts, { requestHeaderTrust, hostname }: UpkeepOptions = {}) {
    const { definitions, aggregation } = parts;
    const isDone = (step: BootStep): boolean => this.#upkeep?.isDone(step) === true;
    this.#parts = parts;
    this.followed = { "*v1.CustomResourceDefinition": definitions, "*v1.APIService": aggregation };
    this.boot = {
      definitions: () => definitions.isFollowing,
      aggregation: () => aggregation.isFollowing,
      objects: isDone,
      ...(requestHeaderTrust !== undefined && { trust: isDone }),
      ...(hostname !== undefined && { ownServer: isDone }),
    };
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  async settle(address: ServerAddress): Promise<void> {
    this.#upkeep = this.#parts.createUpkeep(address);
    await this.#upkeep.settle();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { definitions, aggregation } = this.#parts;
    const onAbort = (): void => {
      this.#isEnding = true;
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    await Promise.all([this.#upkeep?.run(signal), definitions.run(signal), aggregation.run(signal)]);
  }
}
