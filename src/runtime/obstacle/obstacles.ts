/** The obstacles that a part of a program meets now. Each is logged once when it appears and once when it is gone. */
import type { Log, LogFields } from "../../base/log/log.ts";
import type { Obstacle } from "./obstacle.ts";

interface Met {
  readonly obstacle: Obstacle;
  readonly loop: string;
  /** Kinds or keys that meet it. */
  readonly subjects: Set<string>;
}

export interface Meeting {
  /** Loop that cannot go on. */
  readonly loop: string;
  /** Undefined once the subject meets none. */
  readonly obstacle: Obstacle | undefined;
  /** More fields of the log line. */
  readonly fields?: LogFields;
}

export class Obstacles {
  readonly #log: Log;
  readonly #met = new Map<string, Met>();
  readonly #aboutOf = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Call for each outcome of a subject's requests. */
  note(subject: string, { loop, obstacle, fields }: Meeting): void {
    const before = this.#aboutOf.get(subject);
    if (before === obstacle?.about) return;
    if (obstacle === undefined) this.#aboutOf.delete(subject);
    else this.#aboutOf.set(subject, obstacle.about);
    if (before !== undefined) this.#leave(before, subject);
    if (obstacle === undefined) return;
    const known = this.#met.get(obstacle.about);
    if (known === undefined) {
      this.#met.set(obstacle.about, { obstacle, loop, subjects: new Set([subject]) });
      this.#log.warn(obstacle.what, { ...fields, remedy: obstacle.remedy });
    } else known.subjects.add(subject);
  }

  /** The obstacle that was met first, in one line; undefined without any. */
  health(): string | undefined {
    for (const { obstacle, loop } of this.#met.values())
      return `${loop}: ${obstacle.what}; mend it: ${obstacle.remedy}`;
    return undefined;
  }

  #leave(about: string, subject: string): void {
    const met = this.#met.get(about);
    met?.subjects.delete(subject);
    if (met === undefined || met.subjects.size > 0) return;
    this.#met.delete(about);
    this.#log.info("mended", { obstacle: met.obstacle.what });
  }
}
