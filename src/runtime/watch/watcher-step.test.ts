import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import { seededRandom } from "../../base/loop/random.ts";
import { firstState } from "./watcher-state.ts";
import type { IncomingEvent, StatusError, WatcherInput, WatcherState, WatcherStep } from "./watcher-state.ts";
import { step } from "./watcher-step.ts";

const RANDOM = seededRandom(1, "", "");

function object(name: string, version: string): ApiObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, resourceVersion: version } };
}

function put(name: string, version: string): IncomingEvent {
  return { type: "put", object: object(name, version), key: name, version };
}

function gone(name: string, version: string): IncomingEvent {
  return { type: "delete", object: object(name, version), key: name, version };
}

function bookmark(version: string, isInitialEnd = false): IncomingEvent {
  return { type: "bookmark", version, isInitialEnd };
}

function events(...all: readonly IncomingEvent[]): WatcherInput {
  return { type: "events", events: all };
}

function refused(code: number, more: Partial<StatusError> = {}): WatcherInput {
  return {
    type: "refused",
    refusal: { code, message: "no", isAhead: false, retryAfterSeconds: undefined, ...more },
  };
}

const OPENED: WatcherInput = { type: "opened" };
const ENDED: WatcherInput = { type: "ended" };
const BROKEN: WatcherInput = { type: "broken", why: "cut" };
const SILENT: WatcherInput = { type: "silent" };
const WOKEN: WatcherInput = { type: "woken" };

/** Applies inputs one millisecond apart; a number among them advances the time by that many milliseconds. */
function steps(start: WatcherState, ...inputs: readonly (WatcherInput | number)[]): WatcherStep {
  let at = 0;
  let last: WatcherStep = { state: start, deliver: [] };
  const deliver = inputs.flatMap((input) => {
    if (typeof input === "number") {
      at += input;
      return [];
    }
    last = step(last.state, input, { at, random: RANDOM });
    at++;
    return last.deliver;
  });
  return { state: last.state, deliver };
}

function watchingFrom(version: string): WatcherState {
  return steps(firstState(), OPENED, events(bookmark(version, true))).state;
}

/** A watcher whose server refuses streaming lists. */
function listing(): WatcherState {
  return steps(firstState(), refused(422)).state;
}

const WAITS = { name: "waiting" };

describe("the initial events of a watch", () => {
  test("are delivered together at their end, and the same watch continues", () => {
    const { state, deliver } = steps(
      firstState(),
      OPENED,
      events(put("a", "3"), put("b", "4")),
      events(gone("a", "5"), put("b", "6"), bookmark("6", true), put("c", "8")),
    );

    expect(deliver).toEqual([
      { type: "reset", objects: [object("b", "6")], resourceVersion: "6" },
      { type: "changes", changes: [{ type: "put", object: object("c", "8") }], resourceVersion: "8" },
    ]);
    expect(state).toMatchObject({ name: "watching", position: { complete: "6" } });
  });

  test("are not delivered when the stream breaks, and are requested again", () => {
    const { state, deliver } = steps(firstState(), OPENED, events(put("a", "3")), BROKEN, WOKEN);

    expect(deliver).toEqual([]);
    expect(state).toMatchObject({ name: "initial", objects: new Map() });
  });

  test.each([400, 405, 422])("are replaced by a list when the server refuses them with %i", (code) => {
    expect(steps(firstState(), refused(code)).state).toMatchObject({
      name: "listing",
      memory: { streams: false },
    });
  });

  test("are replaced by a list when the server does not mark their end", () => {
    const { state } = steps(firstState(), OPENED, events(put("a", "3")), SILENT);

    expect(state).toMatchObject({ name: "listing", objects: [], memory: { streams: false } });
  });

  test("are replaced by a list after three failures", () => {
    const { state } = steps(firstState(), BROKEN, WOKEN, ENDED, WOKEN, refused(500), WOKEN);

    expect(state).toMatchObject({ name: "listing", memory: { streams: true } });
  });

  test.each([401, 403, 404, 429, 500, 503])("are requested again after a %i", (code) => {
    const { state } = steps(firstState(), refused(code));

    expect(state).toMatchObject({ ...WAITS, next: { name: "initial" } });
  });
});

describe("a list in pages", () => {
  const FIRST: WatcherInput = { type: "page", objects: [object("a", "1")], version: "7", token: "t" };
  const LAST: WatcherInput = { type: "page", objects: [object("b", "2")], version: "7", token: undefined };

  test("is delivered as a whole", () => {
    const { state, deliver } = steps(listing(), FIRST, LAST);

    expect(deliver).toEqual([
      { type: "reset", objects: [object("a", "1"), object("b", "2")], resourceVersion: "7" },
    ]);
    expect(state).toMatchObject({ name: "watching", position: { complete: "7" } });
  });

  test("continues with the page that failed", () => {
    const { deliver } = steps(listing(), FIRST, BROKEN, WOKEN, refused(429), WOKEN, LAST);

    expect(deliver).toMatchObject([{ objects: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }] }]);
  });

  test.each([400, 404, 422])("starts over when the server does not know its token (%i)", (code) => {
    const { state } = steps(listing(), FIRST, refused(code));

    expect(state).toMatchObject({ ...WAITS, next: { name: "listing", objects: [], token: undefined } });
  });

  test("asks for the whole list when a token expired, and backs off when that fails too", () => {
    const anew = steps(listing(), FIRST, refused(410));
    const again = steps(listing(), FIRST, refused(410), FIRST, refused(410));

    expect(anew.state).toMatchObject({ name: "listing", objects: [], token: undefined, isWhole: true });
    expect(again.state).toMatchObject({ ...WAITS, next: { name: "listing", objects: [], token: undefined } });
  });
});

describe("a watch", () => {
  test("delivers changes that arrived together as one batch", () => {
    const { deliver } = steps(watchingFrom("5"), events(put("a", "6"), gone("a", "7"), put("a", "8")));

    expect(deliver).toMatchObject([
      {
        type: "changes",
        resourceVersion: "8",
        changes: [{ type: "put" }, { type: "delete" }, { type: "put" }],
      },
    ]);
  });

  test("delivers nothing twice", () => {
    const { deliver } = steps(
      watchingFrom("5"),
      events(put("a", "6")),
      BROKEN,
      WOKEN,
      OPENED,
      events(put("a", "6"), put("b", "7")),
      events(put("a", "6")),
    );

    expect(deliver).toMatchObject([
      { changes: [{ object: { metadata: { name: "a" } } }] },
      { changes: [{ object: { metadata: { name: "b" } } }] },
    ]);
  });

  test("delivers the progress of a bookmark that is newer", () => {
    const { deliver } = steps(watchingFrom("5"), events(bookmark("9")), events(put("a", "9")));

    expect(deliver).toEqual([{ type: "progress", resourceVersion: "9" }]);
  });

  test.each([BROKEN, SILENT, ENDED, refused(500), refused(401), refused(403), refused(429)])(
    "resumes at its position after $type",
    (input) => {
      const { state } = steps(watchingFrom("5"), events(put("a", "6")), input, WOKEN);

      expect(state).toMatchObject({ name: "watching", position: { complete: "5" }, openedAt: undefined });
    },
  );

  test("resumes at once when the server ends it after a healthy time", () => {
    expect(steps(watchingFrom("5"), 20_000, ENDED).state).toMatchObject({ name: "watching" });
  });

  test("lists again at once when its position expired, as a response or as an event", () => {
    const asAnswer = steps(watchingFrom("5"), refused(410));
    const asEvent = steps(watchingFrom("5"), events(put("a", "6"), { type: "error", refusal: refusal(410) }));

    expect(asAnswer.state).toMatchObject({ name: "initial", position: { complete: "5" } });
    expect(asEvent.state).toMatchObject({ name: "initial", position: { partial: { version: "6" } } });
    expect(asEvent.deliver).toMatchObject([{ type: "changes" }]);
  });

  test("backs off before it lists again for a second time in a row", () => {
    const { state } = steps(
      watchingFrom("5"),
      refused(410),
      OPENED,
      events(bookmark("9", true)),
      refused(410),
    );

    expect(state).toMatchObject({ ...WAITS, next: { name: "initial" } });
  });

  test.each([400, 404, 422])("lists again when the server does not know its position (%i)", (code) => {
    expect(steps(watchingFrom("5"), refused(code)).state).toMatchObject({
      ...WAITS,
      next: { name: "initial" },
    });
  });

  test("lists again after an invalid event", () => {
    const { state, deliver } = steps(
      watchingFrom("5"),
      events(put("a", "6"), { type: "malformed", why: "?" }),
    );

    expect(state).toMatchObject({ ...WAITS, next: { name: "initial" } });
    expect(deliver).toMatchObject([{ type: "changes" }]);
  });
});

describe("a server that is behind", () => {
  const OLD_STATE = events(bookmark("4", true));
  const OLD_PAGE: WatcherInput = { type: "page", objects: [], version: "4", token: undefined };

  test("does not reset the watcher to an older state", () => {
    const { state, deliver } = steps(watchingFrom("5"), refused(410), OPENED, OLD_STATE);

    expect(deliver).toEqual([]);
    expect(state).toMatchObject({ ...WAITS, next: { name: "initial", position: { complete: "5" } } });
  });

  test("is detected by its bookmark or its error", () => {
    const byBookmark = steps(watchingFrom("5"), events(bookmark("4")));
    const byWord = steps(watchingFrom("5"), refused(410), refused(504, { isAhead: true }));

    expect(byBookmark.state).toMatchObject({
      ...WAITS,
      next: { memory: { behind: { since: 0, answers: 0 } } },
    });
    expect(byWord.state).toMatchObject({ ...WAITS, next: { memory: { behind: { since: 1, answers: 0 } } } });
  });

  test("is no longer behind once it returns a state that is not older", () => {
    const { state, deliver } = steps(
      watchingFrom("5"),
      refused(410),
      OLD_STATE,
      WOKEN,
      OPENED,
      events(bookmark("6", true)),
    );

    expect(deliver).toMatchObject([{ type: "reset", resourceVersion: "6" }]);
    expect(state).toMatchObject({ name: "watching", memory: { behind: undefined } });
  });

  test("is trusted after a minute and several responses: its store was restored from a backup", () => {
    // As events or as a page: each state reads the one it asked for.
    const again = [OLD_STATE, OLD_PAGE, WOKEN];
    const many = [...again, ...again, ...again, ...again];

    const soon = steps(watchingFrom("5"), refused(410), ...many, ...again);
    const once = steps(watchingFrom("5"), refused(410), ...again, 60_000, OLD_STATE);
    const late = steps(watchingFrom("5"), refused(410), ...many, 60_000, OLD_PAGE);

    expect([...soon.deliver, ...once.deliver]).toEqual([]);
    expect(late.deliver).toMatchObject([{ type: "reset", resourceVersion: "4" }]);
    expect(late.state).toMatchObject({ name: "watching", position: { complete: "4" } });
  });
});

describe("the back-off of a watcher", () => {
  function waitsOf(count: number): readonly { waitMs: number; timer: string }[] {
    let state: WatcherState = watchingFrom("5");
    return Array.from({ length: count }, () => {
      state = steps(state, BROKEN).state;
      if (state.name !== "waiting") throw new Error("the watcher does not wait");
      const { waitMs, timer } = state;
      state = steps(state, WOKEN).state;
      return { waitMs, timer };
    });
  }

  test("grows to 30 s with up to 50 % jitter", () => {
    const waits = waitsOf(12).map(({ waitMs }) => waitMs);

    for (const [index, waitMs] of waits.entries()) {
      const longest = Math.min(30_000, 100 * 2 ** index);
      expect(waitMs).toBeGreaterThanOrEqual(longest / 2);
      expect(waitMs).toBeLessThanOrEqual(longest);
    }
  });

  test("keeps a virtual clock waiting only until it has reached its maximum", () => {
    expect(waitsOf(11).map(({ timer }) => timer)).toEqual([
      ...Array.from({ length: 9 }, () => "progress"),
      "periodic",
      "periodic",
    ]);
  });

  test("starts over after a healthy time", () => {
    const { state } = steps(watchingFrom("5"), BROKEN, WOKEN, BROKEN, WOKEN, OPENED, 10_000, BROKEN);

    expect(state).toMatchObject({ ...WAITS, next: { memory: { retries: 1 } } });
  });

  test("stays short when connections break repeatedly but deliver something", () => {
    const failures = Array.from({ length: 10 }, () => [BROKEN, WOKEN]).flat();

    const { state } = steps(watchingFrom("5"), ...failures, OPENED, events(put("a", "6")), BROKEN);
    const inVain = steps(watchingFrom("5"), ...failures, OPENED, events(put("a", "5")), BROKEN);

    expect(state).toMatchObject({ ...WAITS, next: { memory: { retries: 6 } } });
    expect(state).toHaveProperty(
      "waitMs",
      expect.toSatisfy((ms: number) => ms >= 1600 && ms <= 3200),
    );
    expect(inVain.state).toMatchObject({ ...WAITS, next: { memory: { retries: 11 } } });
  });

  test("lasts as long as the server asks for, within bounds", () => {
    const asked = steps(watchingFrom("5"), refused(429, { retryAfterSeconds: 7 })).state;
    const absurd = steps(watchingFrom("5"), refused(429, { retryAfterSeconds: 1e9 })).state;

    expect(asked).toMatchObject({ ...WAITS, waitMs: 7000 });
    expect(absurd).toMatchObject({ ...WAITS, waitMs: 120_000 });
  });
});

function refusal(code: number): StatusError {
  return { code, message: "no", isAhead: false, retryAfterSeconds: undefined };
}
