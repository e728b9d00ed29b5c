import { describe, expect, test } from "vitest";
import type { WatchEventAnswer } from "../../request/answer.ts";
import { FIRST_STATE, step, type WatchInput, type WatchRules, type WatchState } from "./watch-step.ts";
import { PIECE_OBJECTS } from "./watched-entries.ts";

const RULES: WatchRules = { after: 10, allowsBookmarks: true, marksInitialEnd: false };
const EVENT: WatchEventAnswer = { type: "ADDED" };
const OVER: WatchState = { name: "over" };

function events(count: number): readonly WatchEventAnswer[] {
  return Array.from({ length: count }, () => EVENT);
}

interface Outcome {
  readonly state: WatchState;
  /** Events of each input; undefined for an input without events. */
  readonly sent: readonly (readonly WatchEventAnswer[] | undefined)[];
}

function run(inputs: readonly WatchInput[], rules = RULES): Outcome {
  let state = FIRST_STATE;
  const sent = inputs.map((input) => {
    const next = step(state, input, rules);
    state = next.state;
    return next.events;
  });
  return { state, sent };
}

const asked = (through: number): WatchInput => ({ type: "asked", through });
const existing = (count: number): WatchInput => ({ type: "existing", events: events(count) });
const changes = (count: number): WatchInput => ({ type: "changes", events: events(count) });
const rang = (alarm: "bookmark" | "end"): WatchInput => ({ type: "rang", alarm });
const CAUGHT_UP: WatchInput = { type: "caught up" };
const IDLE: WatchInput = { type: "idle" };

describe("existing objects", () => {
  test("are collected until there are enough for one batch", () => {
    const { sent } = run([existing(PIECE_OBJECTS - 1), existing(3), existing(1)]);

    expect(sent.map((batch) => batch?.length)).toEqual([undefined, PIECE_OBJECTS + 2, undefined]);
  });

  test("are sent when the store has nothing more to read", () => {
    const { sent, state } = run([existing(2), IDLE]);

    expect(sent).toEqual([undefined, events(2)]);
    expect(state).toMatchObject({ name: "existing", collected: [] });
  });

  test("are sent before the first change", () => {
    const { sent, state } = run([existing(2), CAUGHT_UP]);

    expect(sent).toEqual([undefined, events(2)]);
    expect(state).toMatchObject({ name: "following" });
  });

  test("end with a bookmark where the client asked for one", () => {
    const end = { type: "BOOKMARK", resourceVersion: "10", isInitialEnd: true };

    expect(run([existing(1), CAUGHT_UP], { ...RULES, marksInitialEnd: true }).sent[1]).toEqual([EVENT, end]);
    expect(run([CAUGHT_UP], { ...RULES, marksInitialEnd: true }).sent).toEqual([[end]]);
  });
});

describe("changes", () => {
  test("are sent as they are, so that watchers share them", () => {
    const input = { type: "changes", events: events(2) } as const;

    expect(run([CAUGHT_UP, input]).sent[1]).toBe(input.events);
  });

  test("that no selector matches send nothing", () => {
    expect(run([CAUGHT_UP, changes(0), IDLE]).sent).toEqual([undefined, undefined, undefined]);
  });
});

describe("a bookmark", () => {
  const bookmark = (revision: string): WatchEventAnswer => ({ type: "BOOKMARK", resourceVersion: revision });

  test("is sent once, at the revision that was read", () => {
    const { sent } = run([CAUGHT_UP, rang("bookmark"), asked(12), asked(13)]);

    expect(sent.slice(2)).toEqual([[bookmark("12")], undefined]);
  });

  test("waits until the existing objects are sent", () => {
    const { sent } = run([rang("bookmark"), asked(12), CAUGHT_UP, asked(12)]);

    expect(sent).toEqual([undefined, undefined, undefined, [bookmark("12")]]);
  });

  test("is left out before the start revision of the watch", () => {
    expect(run([CAUGHT_UP, rang("bookmark"), asked(9), asked(11)]).sent.slice(2)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("is left out where the client allows none", () => {
    const { sent } = run([CAUGHT_UP, rang("bookmark"), asked(12)], { ...RULES, allowsBookmarks: false });

    expect(sent[2]).toBeUndefined();
  });
});

describe("a watch is over", () => {
  test.each([
    { why: "at the end of its time", inputs: [rang("end")] },
    { why: "when the client left", inputs: [existing(1), { type: "ended" }] },
    {
      why: "when all changes of an ended kind were read",
      inputs: [{ type: "kind ended", revision: 12, through: 12 }],
    },
    {
      why: "once the last changes of an ended kind were read",
      inputs: [CAUGHT_UP, { type: "kind ended", revision: 12, through: 11 }, changes(1), asked(12)],
    },
  ] satisfies readonly { readonly why: string; readonly inputs: readonly WatchInput[] }[])(
    "$why",
    ({ inputs }) => {
      expect(run(inputs).state).toEqual(OVER);
    },
  );

  test("only after the last changes of an ended kind", () => {
    const { state, sent } = run([
      CAUGHT_UP,
      { type: "kind ended", revision: 12, through: 11 },
      asked(11),
      changes(1),
    ]);

    expect(state.name).toBe("following");
    expect(sent[3]).toEqual(events(1));
  });

  test.each([asked(99), existing(1), CAUGHT_UP, changes(1), IDLE, rang("bookmark")])(
    "and ignores $type",
    (input) => {
      expect(step(OVER, input, RULES)).toEqual({ state: OVER });
    },
  );
});
