import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { Turns, type Turn, type TurnOwner } from "./turns.ts";

const nothing = (): void => undefined;

function verified(user: string): TurnOwner {
  return { user, path: ["10.0.0.1", user] };
}

function stranger(address: string, connection: string): TurnOwner {
  return { user: undefined, path: [address, connection] };
}

function turn(carryOut: () => void, handOver = nothing): Turn {
  return { carryOut, handOver, turnAway: nothing };
}

describe("Turns", () => {
  test("alternate between clients, keep the order of each, and batch for the last one left", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns({ loop });
    const seen: string[] = [];
    const named = (name: string): Turn => turn(() => void seen.push(name));
    for (let n = 0; n < 5; n++) turns.take(verified("flood"), named(`flood ${String(n)}`));
    turns.take(verified("a"), named("a 0"));
    turns.take(verified("b"), named("b 0"));
    turns.take(verified("a"), named("a 1"));

    await loop.settle();

    const rounds = ["flood 0", "a 0", "b 0", "flood 1", "a 1", "flood 2", "flood 3", "flood 4"];
    expect(seen).toEqual(rounds);
  });

  test("of a lone client are carried out in a bounded batch and then handed over", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns({ loop });
    const seen: string[] = [];
    for (let n = 0; n < 18; n++) {
      const carryOut = (): void => void seen.push(`${String(n)} done`);
      turns.take(
        verified("flood"),
        turn(carryOut, () => void seen.push(`${String(n)} out`)),
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
    const turns = new Turns({
      loop: { elapsed: () => clock, post: (lane, step) => loop.post(lane, step) },
    });
    const seen: string[] = [];
    for (const name of ["a", "b"]) {
      const carryOut = (): void => {
        clock += 3;
        seen.push(`${name} done`);
      };
      turns.take(
        verified("slow"),
        turn(carryOut, () => void seen.push(`${name} out`)),
      );
    }

    await loop.settle();

    expect(seen).toEqual(["a done", "a out", "b done", "b out"]);
  });

  test("resume for a client that had none waiting", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns({ loop });
    const seen: string[] = [];
    const second = turn(() => void seen.push("second"));
    turns.take(
      verified("a"),
      turn(nothing, () => turns.take(verified("a"), second)),
    );

    await loop.settle();

    expect(seen).toEqual(["second"]);
  });

  test("of all unverified clients together count as those of one user", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns({ loop });
    const seen: string[] = [];
    for (let n = 0; n < 1000; n++)
      turns.take(
        stranger(`10.0.${String(n % 7)}.1`, String(n)),
        turn(() => void seen.push("flood")),
      );
    for (let n = 0; n < 3; n++)
      turns.take(
        verified("victim"),
        turn(() => void seen.push("victim")),
      );

    await loop.settle();

    expect(seen.slice(0, 6)).toEqual(["flood", "victim", "flood", "victim", "flood", "victim"]);
  });

  test("of unverified clients alternate between addresses, then between connections", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns({ loop });
    const seen: string[] = [];
    const take = (address: string, connection: string, name: string): void =>
      turns.take(
        stranger(address, connection),
        turn(() => void seen.push(name)),
      );
    for (let n = 0; n < 3; n++) take("10.0.0.1", "1", `flood ${String(n)}`);
    take("10.0.0.1", "2", "neighbour");
    take("10.0.0.2", "3", "other");

    await loop.settle();

    expect(seen).toEqual(["flood 0", "other", "neighbour", "flood 1", "flood 2"]);
  });

  test("are refused only to the owner that fills the queue", () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns({ loop, maxWaiting: 5 });
    const refused: string[] = [];
    const take = (owner: TurnOwner, name: string): void =>
      turns.take(owner, { ...turn(nothing), turnAway: () => void refused.push(name) });
    for (let n = 0; n < 4; n++) take(stranger("10.0.0.1", String(n % 2)), `flood ${String(n)}`);
    take(stranger("10.0.0.2", "9"), "other");
    take(verified("victim"), "victim");
    take(stranger("10.0.0.1", "0"), "flood 4");

    expect(refused).toEqual(["flood 2", "flood 4"]);
  });
});
