/** A refused client can read the reason for its refusal: an earlier refusal would be followed by a read of the old state. */
import { expect, test } from "vitest";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import { HeldBackend } from "../../src/store/fixture.ts";
import { LocalStore } from "../../src/store/local-store.ts";
import { Mirror } from "../../src/store/mirror.ts";
import { State } from "../../src/store/state.ts";
import { StoreError } from "../../src/store/store-error.ts";
import { type Reply, TestApi, text } from "../api-harness.ts";

const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";

/** A server whose disk responds when the test says so. */
class SlowDisk {
  readonly loop = new VirtualLoop({ seed: 1, name: "test" });
  readonly backend = new HeldBackend();
  readonly store = new LocalStore({
    loop: this.loop,
    backend: this.backend,
    mirror: new Mirror({ loop: this.loop }, State.empty()),
  });
  /** Status codes by client. */
  readonly answers: Record<string, number> = {};
  readonly #api = TestApi.start([], { loop: this.loop, store: this.store, leavesDefinitions: true });

  async send(name: string, method: string, target: string, body?: unknown): Promise<Reply> {
    const api = await this.#api;
    const reply = await api.send(method, target, body);
    this.answers[name] = reply.code;
    return reply;
  }

  /** Completes the pending disk operations. */
  async answer(failure?: StoreError): Promise<void> {
    await this.loop.settle();
    const { length } = this.backend.batches;
    const batches = this.backend.batches.splice(0, length);
    for (const batch of batches) {
      if (failure === undefined) batch.succeed();
      else batch.fail(failure);
    }
    await this.loop.settle();
  }
}

function priorityClass(value: number, extra = {}): object {
  return { metadata: { name: "a", ...extra }, value, description: "" };
}

test("who comes second to create is told so when the first is there", async () => {
  const world = new SlowDisk();
  const first = world.send("first", "POST", CLASSES, priorityClass(1));
  const second = world.send("second", "POST", CLASSES, priorityClass(2));
  await world.loop.settle();

  expect(world.answers).toEqual({});

  await world.answer();
  await Promise.all([first, second]);
  expect(world.answers).toEqual({ first: 201, second: 409 });
});

test("who comes second to create is not told so when the first was lost", async () => {
  const world = new SlowDisk();
  const first = world.send("first", "POST", CLASSES, priorityClass(1));
  const second = world.send("second", "POST", CLASSES, priorityClass(2));

  await world.answer(new StoreError("NoSpace", "no space left on the disk"));
  await first;
  await world.answer();
  await second;

  expect(world.answers).toEqual({ first: 500, second: 201 });
  const read = await world.send("read", "GET", `${CLASSES}/a`);
  expect(read.body["value"]).toBe(2);
});

test("who is told of a conflict sees the other's change", async () => {
  const world = new SlowDisk();
  const creating = world.send("create", "POST", CLASSES, priorityClass(1));
  await world.answer();
  const resourceVersion = text((await creating).body["metadata"]?.["resourceVersion"]);
  const labelled = (color: string): object => priorityClass(1, { resourceVersion, labels: { color } });

  const first = world.send("first", "PUT", `${CLASSES}/a`, labelled("red"));
  const second = world.send("second", "PUT", `${CLASSES}/a`, labelled("blue"));
  await world.loop.settle();
  expect(world.answers).toEqual({ create: 201 });
  await world.answer();
  await Promise.all([first, second]);

  expect(world.answers).toEqual({ create: 201, first: 200, second: 409 });
});

test("who changes nothing is told so when what was there before it can be seen", async () => {
  const world = new SlowDisk();
  const first = world.send("first", "POST", CLASSES, priorityClass(1));
  await world.loop.settle();
  const second = world.send("second", "PUT", `${CLASSES}/a`, priorityClass(1));
  await world.loop.settle();

  expect(world.answers).toEqual({});
  await world.answer();
  await Promise.all([first, second]);
  expect(world.answers).toEqual({ first: 201, second: 200 });
});
