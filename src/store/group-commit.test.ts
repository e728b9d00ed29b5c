import { beforeEach, describe, expect, test } from "vitest";
import type { Loop } from "../base/loop/loop.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import type { Backend } from "./backend.ts";
import type { Commit } from "./commit.ts";
import { GroupCommit } from "./group-commit.ts";
import { State, StateEditor } from "./state.ts";
import type { Advance } from "./state.ts";
import { StoreError } from "./store-error.ts";
import { advance } from "./transaction.ts";

/** More commits than are sent before the step ends. */
const MANY = 40;
/** Number of them that a quick disk gets at once. */
const EAGER = 32;
/** Commit time of a slow disk. */
const SLOW_MS = 3;

interface Call {
  readonly revisions: number[];
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

/** Settles each batch when the test says so. */
class FakeBackend implements Backend {
  readonly calls: Call[] = [];

  commit(batch: readonly Commit[]): Promise<void> {
    return new Promise((succeed, fail) => {
      this.calls.push({ revisions: batch.map(({ revision }) => revision), succeed, fail });
    });
  }

  async compact(): Promise<void> {}

  async close(): Promise<void> {}
}

let loop: VirtualLoop;
let backend: FakeBackend;
let commits: GroupCommit;
/** Events in order: "durable 2,3", "answered 2", "refused", "lost 4". */
let seen: string[];
let state: StateEditor;

beforeEach(() => {
  loop = new VirtualLoop({ seed: 1, name: "test" });
  backend = new FakeBackend();
  seen = [];
  state = new StateEditor(State.empty());
  commits = commitsOn(loop);
});

function commitsOn(itsLoop: Loop): GroupCommit {
  return new GroupCommit(itsLoop, backend, {
    accepted: () => state.state(),
    durable: (batch) => seen.push(`durable ${revisionsOf(batch)}`),
    refused: () => seen.push("refused"),
    broken: (error) => seen.push(`broken ${error.code}`),
  });
}

function useRealLoop(): Loop {
  const real = createRealLoop({ name: "test" });
  commits = commitsOn(real);
  return real;
}

/** Resolves when the loop is idle. After a long slice a spare step may run before others, so the third one counts. */
async function drained(real: Loop): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise<void>((resolve) => real.post("spare", resolve));
}

describe("batches", () => {
  test("commits of one step share a batch, and are answered in order after the listener was called", async () => {
    push(3);
    await turn();
    expect(calls()).toEqual([[2, 3, 4]]);
    expect(seen).toEqual([]);

    await succeed(0);

    expect(seen).toEqual(["durable 2,3,4", "answered 2", "answered 3", "answered 4"]);
  });

  test("a large batch is sent before the step ends", async () => {
    push(MANY);
    expect(calls().map((revisions) => revisions.length)).toEqual([EAGER]);

    await turn();

    expect(calls().map((revisions) => revisions.length)).toEqual([EAGER, MANY - EAGER]);
    expect(calls().flat()).toEqual(Array.from({ length: MANY }, (_, i) => i + 2));
  });

  test("at most two are in flight; later commits form one batch", async () => {
    await pushAndTurn(1);
    await pushAndTurn(1);
    await pushAndTurn(1);
    await pushAndTurn(1);
    expect(calls()).toEqual([[2], [3]]);

    await succeed(0);

    expect(calls()).toEqual([[2], [3], [4, 5]]);
  });

  test("on a slow disk one is in flight, and all later commits share the next sync", async () => {
    await pushAndTurn(1);
    await loop.advance(SLOW_MS);
    await succeed(0);

    await pushAndTurn(1);
    push(MANY);
    await turn();
    expect(calls()).toEqual([[2], [3]]);
    await loop.advance(SLOW_MS);
    await succeed(1);

    expect(calls()[2]).toHaveLength(MANY);
  });

  test("on a slow disk a large step is not split", async () => {
    await pushAndTurn(1);
    await loop.advance(SLOW_MS);
    await succeed(0);

    push(MANY);
    await turn();

    expect(calls()[1]).toHaveLength(MANY);
  });
});

describe("on the real loop, a batch", () => {
  test("includes the writes of steps that were queued in the writer's lane", async () => {
    const real = useRealLoop();
    for (let i = 0; i < 3; i++) real.post("loop", () => push(1));
    await drained(real);

    expect(calls()).toEqual([[2, 3, 4]]);
  });

  test("of loops is not split, however large: no client waits for its first part", async () => {
    const real = useRealLoop();
    real.post("loop", () => push(MANY));
    await drained(real);

    expect(calls().map((revisions) => revisions.length)).toEqual([MANY]);
  });

  test("does not wait for a lane less urgent than any of its writers'", async () => {
    const real = useRealLoop();
    real.post("loop", () => {
      push(1);
      real.post("request", () => push(1));
    });
    for (let i = 0; i < 3; i++) real.post("loop", () => push(1));
    await drained(real);

    expect(calls()).toEqual([
      [2, 3],
      [4, 5, 6],
    ]);
  });
});

describe("a batch that is refused", () => {
  const noSpace = new StoreError("NoSpace", "no room");

  test("fails everything behind it, in flight and queued", async () => {
    await pushAndTurn(1);
    await pushAndTurn(1);
    await pushAndTurn(1);

    await fail(0, noSpace);

    expect(seen).toEqual(["refused", "lost 2 NoSpace", "lost 3 NoSpace", "lost 4 NoSpace"]);
  });

  test("leaves the one before it acknowledged", async () => {
    await pushAndTurn(1);
    await pushAndTurn(1);
    await pushAndTurn(1);

    await succeed(0);
    await fail(1, noSpace);

    expect(seen).toEqual(["durable 2", "answered 2", "refused", "lost 3 NoSpace", "lost 4 NoSpace"]);
  });

  test("sends nothing until all later calls have settled, and ignores their results", async () => {
    await pushAndTurn(1);
    await pushAndTurn(1);
    await fail(0, noSpace);
    state = new StateEditor(State.empty());
    await pushAndTurn(1);
    expect(calls()).toEqual([[2], [3]]);

    await fail(1, new Error("does not follow"));

    expect(calls()).toEqual([[2], [3], [2]]);
    await succeed(2);
    expect(seen).toEqual(["refused", "lost 2 NoSpace", "lost 3 NoSpace", "durable 2", "answered 2"]);
  });
});

test("any other failed batch breaks the store, with unknown outcome for all waiting writers", async () => {
  await pushAndTurn(1);
  await pushAndTurn(1);
  await pushAndTurn(1);

  await fail(0, new Error("input/output error"));

  expect(seen).toEqual([
    "broken OutcomeUnknown",
    "lost 2 OutcomeUnknown",
    "lost 3 OutcomeUnknown",
    "lost 4 OutcomeUnknown",
  ]);
});

describe("drained", () => {
  test("waits for queued batches and those in flight", async () => {
    await pushAndTurn(1);
    await pushAndTurn(1);
    await pushAndTurn(1);
    void commits.drained().then(() => seen.push("drained"));

    await succeed(0);
    await succeed(1);
    expect(seen).not.toContain("drained");
    await succeed(2);

    expect(seen.at(-1)).toBe("drained");
    await commits.drained();
  });

  test("waits for the calls behind a failed one", async () => {
    await pushAndTurn(1);
    await pushAndTurn(1);
    void commits.drained().then(() => seen.push("drained"));

    await fail(0, new StoreError("NoSpace", "no room"));
    expect(seen).not.toContain("drained");
    await fail(1, new Error("does not follow"));

    expect(seen.at(-1)).toBe("drained");
  });
});

test("newest settles like the last pushed commit", async () => {
  await commits.newest;
  await pushAndTurn(1);
  const { newest } = commits;
  void newest.then(() => seen.push("newest"));

  await succeed(0);

  expect(seen).toEqual(["durable 2", "answered 2", "newest"]);
});

test("the queue is full when too many bytes wait for the backend", async () => {
  await pushAndTurn(1);
  await pushAndTurn(1);
  expect(commits.isFull).toBe(false);

  push(1, 128 << 20);

  expect(commits.isFull).toBe(true);
});

function push(count: number, bytes = 100): void {
  for (let i = 0; i < count; i += 1) {
    const commit = advance(
      state,
      { changes: [{ type: "put", key: `/k/${String(state.revision)}`, value: new Uint8Array(1) }] },
      { now: 1 },
    );
    if (commit === undefined) throw new Error("expected a change");
    const { revision } = commit;
    commits.push(commit, bytes, { revision, entries: [] }).then(
      (answer) => seen.push(`answered ${String(answer.revision)}`),
      (error: StoreError) => seen.push(`lost ${String(revision)} ${error.code}`),
    );
  }
}

async function pushAndTurn(count: number): Promise<void> {
  push(count);
  await turn();
}

/** Resolves after the loop has run all posted steps. */
async function turn(): Promise<void> {
  await loop.settle();
}

function calls(): number[][] {
  return backend.calls.map(({ revisions }) => revisions);
}

async function succeed(call: number): Promise<void> {
  backend.calls[call]?.succeed();
  await turn();
}

async function fail(call: number, error: Error): Promise<void> {
  backend.calls[call]?.fail(error);
  await turn();
}

/** Adds the revision of the state when it differs from the last commit's. */
function revisionsOf({ commits: made, state: after }: Advance): string {
  const revisions = made.map(({ revision }) => revision);
  return revisions.at(-1) === after.revision ? revisions.join() : `${revisions.join()} at ${after.revision}`;
}
