import { ChildPaths } from "../loop-paths.ts";
import type { Lane, Loop, Random, Step, Timer, TimerKind } from "../loop.ts";
import { seededRandom } from "../random.ts";
import type { InFlight } from "./virtual-loop-in-flight.ts";
import type { OutsideWork } from "./virtual-loop-outside.ts";
import type { Schedule, StepQueue } from "./virtual-loop-schedule.ts";

interface VirtualWorld {
  readonly schedule: Schedule;
  readonly outside: OutsideWork;
  readonly inFlight: InFlight;
}

/** One named actor of a virtual loop. */
export class VirtualActor implements Loop {
  readonly actor: string;
  readonly lane: Lane = "request";
  readonly #world: VirtualWorld;
  readonly #queues: Readonly<Record<Lane, StepQueue>>;
  readonly #streams = new Map<string, Random>();
  readonly #children: ChildPaths;

  constructor(world: VirtualWorld, actor: string) {
    this.actor = actor;
    this.#world = world;
    this.#queues = {
      health: world.schedule.queue(actor, "health"),
      request: world.schedule.queue(actor, "request"),
      loop: world.schedule.queue(actor, "loop"),
      background: world.schedule.queue(actor, "background"),
      spare: world.schedule.queue(actor, "spare"),
    };
    this.#children = new ChildPaths(actor);
  }

  now(): number {
    return this.#world.schedule.now;
  }

  elapsed(): number {
    return this.#world.schedule.now - this.#world.schedule.startAt;
  }

  timer(at: number, kind: TimerKind, step: Step): Timer {
    return this.#world.schedule.addTimer({ at, kind, actor: this.actor, step });
  }

  post(lane: Lane, step: Step): void {
    this.#world.schedule.post(this.#queues[lane], step);
  }

  outside<T>(label: string, work: Promise<T>): Promise<T> {
    return this.#world.outside.start({ actor: this.actor, label, work });
  }

  inFlight(label: string): () => void {
    return this.#world.inFlight.begin(this.actor, label);
  }

  random(stream: string): Random {
    const known = this.#streams.get(stream);
    if (known !== undefined) return known;
    const created = seededRandom(this.#world.schedule.seed, this.actor, stream);
    this.#streams.set(stream, created);
    return created;
  }

  child(name: string): Loop {
    return new VirtualActor(this.#world, this.#children.take(name));
  }
}
