/**
 * Decides which revision of the history on disk may be compacted now. The window is bounded by age and by bytes. It may
 * exceed either bound by a share, since one large compaction is cheaper than many small ones: it skips all but the last
 * version of each value. Samples are taken per batch and thinned to a bounded number.
 */
export interface RetentionWindowOptions {
  readonly windowMs: number;
  readonly maxBytes: number;
}

interface Sample {
  readonly revision: number;
  readonly time: number;
  /** Bytes written in total, up to this revision. */
  readonly bytes: number;
}

/** Least time between samples; the window always ends at a sample. */
const SAMPLE_MS = 1000;
const SAMPLES_IN_WINDOW = 64;
/** Shares by which the window exceeds its bounds before it is cut. */
const SLACK = { time: 1 / 10, bytes: 1 / 2 };
const NO_SLACK = { time: 0, bytes: 0 };

export class RetentionWindow {
  readonly #options: RetentionWindowOptions;
  readonly #samples: Sample[] = [];
  #bytes = 0;
  /** Newest revision until it expires; the last sample may be a little older. */
  #newest: Sample | undefined;

  constructor(options: RetentionWindowOptions) {
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

  /** Drops samples up to this revision: they are compacted already, or were never replaced. */
  begin(revision: number): void {
    // One splice: an old store has as many samples as objects.
    const first = this.#samples.findIndex((sample) => sample.revision > revision);
    this.#samples.splice(0, first < 0 ? this.#samples.length : first);
  }

  /** Newest revision outside the window; returned once, and only when a compaction is worthwhile. */
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
