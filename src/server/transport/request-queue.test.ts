import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { QueueOwner } from "./queue-owner.ts";
import { type QueuedRequest, RequestQueue } from "./request-queue.ts";

const isUrgent = ({ target }: Pick<QueuedRequest, "target">): boolean => target.startsWith("/urgent");
const nothing = (): void => undefined;

function verified(user: string): QueueOwner {
  return { user, path: ["10.0.0.1", user] };
}

function stranger(address: string, connection: string): QueueOwner {
  return { user: undefined, path: [address, connection] };
}

function request(run: () => void, respond = nothing): QueuedRequest {
  return { method: "GET", target: "/api", run, respond, refuse: nothing };
}

describe("queued requests", () => {
  test("alternate between clients, keep the order of each, and batch for the last one left", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = new RequestQueue({ loop, isUrgent });
    const seen: string[] = [];
    const named = (name: string): QueuedRequest => request(() => void seen.push(name));
    for (let n = 0; n < 5; n++) queue.push(verified("flood"), named(`flood ${String(n)}`));
    queue.push(verified("a"), named("a 0"));
    queue.push(verified("b"), named("b 0"));
    queue.push(verified("a"), named("a 1"));

    await loop.settle();

    const rounds = ["flood 0", "a 0", "b 0", "flood 1", "a 1", "flood 2", "flood 3", "flood 4"];
    expect(seen).toEqual(rounds);
  });

  test("of a lone client are carried out in a bounded batch and then handed over", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = new RequestQueue({ loop, isUrgent });
    const seen: string[] = [];
    for (let n = 0; n < 18; n++) {
      const run = (): void => void seen.push(`${String(n)} done`);
      queue.push(
        verified("flood"),
        request(run, () => void seen.push(`${String(n)} out`)),
      );
    }

    await loop.settle();

    const together = (from: number, to: number): string[] =>
      ["done", "out"].flatMap((end) =>
        Array.from({ length: to - from }, (_, at) => `${String(from + at)} ${end}`),
      );
    expect(seen).toEqual([...together(0, 16), ...together(16, 18)]);
  });

  test("are not batched when they take long", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    let clock = 0;
    const queue = new RequestQueue({
      isUrgent,
      loop: { elapsed: () => clock, post: (lane, step) => loop.post(lane, step) },
    });
    const seen: string[] = [];
    for (const name of ["a", "b"]) {
      const run = (): void => {
        clock += 3;
        seen.push(`${name} done`);
      };
      queue.push(
        verified("slow"),
        request(run, () => void seen.push(`${name} out`)),
      );
    }

    await loop.settle();

    expect(seen).toEqual(["a done", "a out", "b done", "b out"]);
  });

  test("resume for a client that had none waiting", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = new RequestQueue({ loop, isUrgent });
    const seen: string[] = [];
    const second = request(() => void seen.push("second"));
    queue.push(
      verified("a"),
      request(nothing, () => queue.push(verified("a"), second)),
    );

    await loop.settle();

    expect(seen).toEqual(["second"]);
  });

  test("of all unverified clients together count as those of one user", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = new RequestQueue({ loop, isUrgent });
    const seen: string[] = [];
    for (let n = 0; n < 1000; n++)
      queue.push(
        stranger(`10.0.${String(n % 7)}.1`, String(n)),
        request(() => void seen.push("flood")),
      );
    for (let n = 0; n < 3; n++)
      queue.push(
        verified("victim"),
        request(() => void seen.push("victim")),
      );

    await loop.settle();

    expect(seen.slice(0, 6)).toEqual(["flood", "victim", "flood", "victim", "flood", "victim"]);
  });

  test("of unverified clients alternate between addresses, then between connections", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = new RequestQueue({ loop, isUrgent });
    const seen: string[] = [];
    const push = (address: string, connection: string, name: string): void =>
      queue.push(
        stranger(address, connection),
        request(() => void seen.push(name)),
      );
    for (let n = 0; n < 3; n++) push("10.0.0.1", "1", `flood ${String(n)}`);
    push("10.0.0.1", "2", "neighbour");
    push("10.0.0.2", "3", "other");

    await loop.settle();

    expect(seen).toEqual(["flood 0", "other", "neighbour", "flood 1", "flood 2"]);
  });

  test("take the urgent lane within the budget of their owner", () => {
    const lanes: string[] = [];
    const queue = new RequestQueue({
      loop: { elapsed: () => 0, post: (lane) => void lanes.push(lane) },
      isUrgent,
    });
    const urgent = { ...request(nothing), target: "/urgent" };

    for (let n = 0; n < 200; n++) queue.push(verified("a"), urgent);
    expect(lanes).toEqual(["health"]);
    queue.push(verified("a"), urgent);

    expect(lanes).toEqual(["health", "request"]);
  });

  test("are refused only to the owner that fills the queue", () => {
    const loop = new VirtualLoop({ seed: 1 });
    const queue = new RequestQueue({ loop, isUrgent, maxWaiting: 5 });
    const refused: string[] = [];
    const push = (owner: QueueOwner, name: string): void =>
      queue.push(owner, { ...request(nothing), refuse: () => void refused.push(name) });
    for (let n = 0; n < 4; n++) push(stranger("10.0.0.1", String(n % 2)), `flood ${String(n)}`);
    push(stranger("10.0.0.2", "9"), "other");
    push(verified("victim"), "victim");
    push(stranger("10.0.0.1", "0"), "flood 4");

    expect(refused).toEqual(["flood 2", "flood 4"]);
  });
});
