import { describe, expect, test } from "vitest";
import type { Commit } from "./commit.ts";
import { WatchHub } from "./watch-hub.ts";
import type { Receiver } from "./watch-hub.ts";

const BYTES = 100;

/** A receiver that never reads. */
class StalledReceiver implements Receiver {
  pendingBytes = 0;
  isEnded = false;
  readonly #hub: WatchHub;
  readonly #prefix: string;

  constructor(hub: WatchHub, prefix: string) {
    this.#hub = hub;
    this.#prefix = prefix;
    hub.add(prefix, this);
  }

  offer(_: unknown, bytes: number): void {
    this.pendingBytes += bytes;
  }

  fallBehind(): void {
    this.isEnded = true;
    this.#hub.remove(this.#prefix, this);
  }
}

function commit(key: string, revision: number): Commit {
  const after = {
    key,
    value: new Uint8Array(BYTES),
    createRevision: revision,
    modRevision: revision,
    version: 1,
    ordinal: 0,
    expiresAt: undefined,
    slot: undefined,
  };
  const events = [{ revision, ordinal: 0, key, before: undefined, after }];
  return { revision, time: 0, events, liveCount: 0, liveSum: 0 };
}

describe("WatchHub", () => {
  test("ends the slowest receivers when too many bytes are pending in total", () => {
    const hub = new WatchHub(20 * BYTES);
    const stalled = Array.from(
      { length: 10 },
      (_, n) => new StalledReceiver(hub, `/registry/pods/${String(n)}/`),
    );
    const quiet = new StalledReceiver(hub, "/registry/maps/");
    let most = 0;
    for (let revision = 1; revision < 500; revision++) {
      hub.publish([commit(`/registry/pods/${String(revision % 10)}/a`, revision)]);
      const pending = stalled.filter(({ isEnded }) => !isEnded).map(({ pendingBytes }) => pendingBytes);
      most = Math.max(
        most,
        pending.reduce((sum, bytes) => sum + bytes, 0),
      );
    }
    hub.publish([commit("/registry/maps/a", 500)]);

    expect(most).toBeLessThanOrEqual(2 * 20 * BYTES);
    expect(stalled.every(({ isEnded }) => isEnded)).toBe(true);
    expect(quiet.isEnded).toBe(false);
  });

  test("counts shared events of one prefix once", () => {
    const hub = new WatchHub(20 * BYTES);
    const stalled = Array.from({ length: 10 }, () => new StalledReceiver(hub, "/registry/pods/"));

    for (let revision = 1; revision <= 20; revision++) hub.publish([commit("/registry/pods/a", revision)]);

    expect(stalled.some(({ isEnded }) => isEnded)).toBe(false);
  });
});
