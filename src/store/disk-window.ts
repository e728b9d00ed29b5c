/**
 * How much history the backend keeps: not older than a time, not more than so many bytes. It may grow beyond either by a share, since
 * much is cheaper to compact at once than little by little: of many versions of a value all but the last go unseen. Answers which
 * revision may be compacted now. Samples are taken per batch and thinned to a bounded number.
 */
export interface DiskWindowOptions {
  readonly windowMs: number;
  readonly maxBytes: number;
}

interface Sample {
  readonly revision: number;
  readonly time: number;
  /** Bytes written so far, up to this revision. */
  readonly bytes: number;
}

/** A sample for at least so much time or bytes; the window ends at a sample. */
const SAMPLE_MS = 1000;
const SAMPLES_IN_WINDOW = 64;
/** The shares by which it has grown when it is cut. */
const SLACK = { time: 1 / 10, bytes: 1 / 2 };
const NO_SLACK = { time: 0, bytes: 0 };

export class DiskWindow {
  readonly #options: DiskWindowOptions;
  readonly #samples: Sample[] = [];
  #bytes = 0;
  /** The newest revision, until it has expired; the samples may end a little before it. */
  #newest: Sample | undefined;

  constructor(options: DiskWindowOptions) {
    this.#options = options;
  }

  note(revision: number, time: number, bytes: number): void {
    this.#bytes += bytes;
    this.#newest = { revision, time, bytes: this.#bytes };
    const last = this.#samples.at(-1);
    const isDue =
      last === undefined ||
      time - last.time >= SAMPLE_MS ||
      this.#bytes - last.bytes >= this.#options.maxBytes / SAMPLES_IN_WINDOW;
    if (isDue) this.#samples.push(this.#newest);
  }

  /** What was noted up to this revision is not history: it was compacted, or never replaced. */
  begin(revision: number): void {
    // At once: a store of long standing was written at as many moments as it has objects.
    const first = this.#samples.findIndex((sample) => sample.revision > revision);
    this.#samples.splice(0, first < 0 ? this.#samples.length : first);
  }

  /** The newest revision that lies outside of the window now, once, and only when it is worth the work. */
  takeExpired(now: number): number | undefined {
    let expired: number | undefined;
    let oldest = this.#samples[0];
    if (oldest !== undefined && this.#isOutside(oldest, now, SLACK)) {
      for (; oldest !== undefined && this.#isOutside(oldest, now, NO_SLACK); oldest = this.#samples[0]) {
        expired = oldest.revision;
        this.#samples.shift();
      }
    }
    if (this.#newest === undefined || now - this.#newest.time <= this.#options.windowMs) return expired;
    const { revision } = this.#newest;
    this.#newest = undefined;
    return revision;
  }

  #isOutside({ time, bytes }: Sample, now: number, slack: typeof SLACK): boolean {
    const { windowMs, maxBytes } = this.#options;
    const isOld = now - time > windowMs * (1 + slack.time);
    return isOld || this.#bytes - bytes > maxBytes * (1 + slack.bytes);
  }
}
