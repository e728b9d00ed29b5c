/** The watches that feed the model: pods, nodes and Events. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { Event, Node, Pod } from "../../api/generated/types/core-v1.ts";
import { silentLog } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Transport } from "../../client/transport.ts";
import type { WatcherEvent } from "../../runtime/watch/watcher-event.ts";
import { Watcher } from "../../runtime/watch/watcher.ts";
import type { ClusterModel } from "./cluster-model.ts";
import { eventLine, keeping, nodeCell, podCell, type Watched } from "./watched-objects.ts";

export interface FeedScope {
  /** Default: all namespaces. */
  readonly namespace?: string;
  /** Label selector of pods. Default: all pods. */
  readonly labelSelector?: string;
}

export interface FeedParts {
  readonly transport: Transport;
  readonly loop: Loop;
  readonly model: ClusterModel;
  readonly scope: FeedScope;
  /** Called after each change of the model, and when a watch breaks or opens. */
  readonly onChange: () => void;
}

interface Feed<T> {
  readonly type: ResourceType;
  readonly scope: FeedScope;
  readonly keep: (object: ApiObject) => T;
  readonly take: (event: WatcherEvent<Watched<T>>) => void;
}

export class Feeds {
  readonly #parts: FeedParts;
  readonly #troubles = new Map<string, string>();
  readonly #synced = new Set<string>();
  readonly #runs: readonly ((signal: AbortSignal) => Promise<void>)[];

  constructor(parts: FeedParts) {
    this.#parts = parts;
    const { model, loop, scope } = parts;
    const { namespace } = scope;
    this.#runs = [
      this.#watcher({
        type: Node,
        scope: {},
        keep: nodeCell,
        take: (event) => model.applyNodes(event),
      }),
      this.#watcher({
        type: Pod,
        scope,
        keep: podCell,
        take: (event) => model.applyPods(event, loop.elapsed()),
      }),
      this.#watcher({
        type: Event,
        scope: { ...(namespace !== undefined && { namespace }) },
        keep: eventLine,
        take: (event) => model.applyEvents(event),
      }),
    ];
  }

  /** Whether the first state of all kinds has arrived. */
  get hasSynced(): boolean {
    return this.#synced.size === this.#runs.length;
  }

  /** Why the model may be out of date. */
  get trouble(): string | undefined {
    const [first] = this.#troubles.values();
    return first;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#runs.map((run) => run(signal)));
  }

  #watcher<T>({ type, scope, keep, take }: Feed<T>): (signal: AbortSignal) => Promise<void> {
    const { transport, loop, onChange } = this.#parts;
    const { kind, plural } = type;
    const watcher = new Watcher<Watched<T>>({
      type,
      ...scope,
      transport,
      loop: loop.child(plural),
      log: silentLog,
      transform: keeping(keep),
      onState: (state) => {
        if (state.name !== "waiting") return;
        this.#troubles.set(plural, `reconnecting: the watch of ${plural} broke: ${state.why}`);
        onChange();
      },
      onOpen: () => {
        this.#troubles.delete(plural);
        onChange();
      },
    });
    const deliver = (event: WatcherEvent<Watched<T>>): void => {
      take(event);
      this.#synced.add(kind);
      onChange();
    };
    return (signal) => watcher.run(deliver, signal);
  }
}
