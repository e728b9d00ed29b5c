import { ChildPaths } from "../loop-paths.ts";
import type { Lane, Loop, Random, Step, Timer, TimerKind } from "../loop.ts";
import { seededRandom } from "../random.ts";
import type { InFlight } from "./virtual-loop-in-flight.ts";
import type { OutsideWork } from "./virtual-loop-outside.ts";
import type { Schedule, StepQueue } from "./virtual-loop-schedule.ts";

interface VirtualParts {
  readonly schedule: Schedule;
  readonly outside: OutsideWork;
  readonly inFlight: InFlight;
}

/** One named actor of a virtual loop. */
export class VirtualActor implements Loop {
  readonly actor: string;
  readonly lane: Lane = "request";
  readonly #parts: VirtualParts;
  readonly #queues: Readonly<Record<Lane | TimerKind, StepQueue>>;
  readonly #streams = new Map<string, Random>();
  readonly #children: ChildPaths;

  constructor(parts: VirtualParts, actor: string) {
    this.actor = actor;
    this.#parts = parts;
    this.#queues = {
      health: parts.schedule.queue(actor, "health"),
      request: parts.schedule.queue(actor, "request"),
      loop: parts.schedule.queue(actor, "loop"),
      background: parts.schedule.queue(actor, "background"),
      spare: parts.schedule.queue(actor, "spare"),
      progress: parts.schedule.queue(actor, "progress"),
      periodic: parts.schedule.queue(actor, "periodic"),
    };
    this.#children = new ChildPaths(actor);
  }

  now(): number {
    return this.#parts.schedule.now;
  }

  elapsed(): number {
    return this.#parts.schedule.now - this.#parts.schedule.startAt;
  }

  timer(at: number, kind: TimerKind, step: Step): Timer {
    return this.#parts.schedule.addTimer(this.#queues[kind], at, step);
  }

  post(lane: Lane, step: Step): void {
    this.#parts.schedule.post(this.#queues[lane], step);
  }

  outside<T>(label: string, work: Promise<T>): Promise<T> {
    return this.#parts.outside.start({ actor: this.actor, label, work });
  }

  inFlight(label: string): () => void {
    return this.#parts.inFlight.begin(this.actor, label);
  }

  random(stream: string): Random {
    const known = this.#streams.get(stream);
    if (known !== undefined) return known;
    const created = seededRandom(this.#parts.schedule.seed, this.actor, stream);
    this.#streams.set(stream, created);
    return created;
  }

  child(name: string): Loop {
    return new VirtualActor(this.#parts, this.#children.take(name));
  }
}
