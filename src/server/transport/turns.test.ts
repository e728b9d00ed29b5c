import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/virtual-loop.ts";
import { Turns, type Turn } from "./turns.ts";

const nothing = (): void => undefined;

describe("Turns", () => {
  test("go round between clients, in the order of each, and who is left alone gets several", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns(loop);
    const seen: string[] = [];
    const turn = (name: string): Turn => ({ carryOut: () => void seen.push(name), handOver: nothing });
    for (let n = 0; n < 5; n++) turns.take("flood", turn(`flood ${String(n)}`));
    turns.take("a", turn("a 0"));
    turns.take("b", turn("b 0"));
    turns.take("a", turn("a 1"));

    await loop.settle();

    const rounds = ["flood 0", "a 0", "b 0", "flood 1", "a 1", "flood 2", "flood 3", "flood 4"];
    expect(seen).toEqual(rounds);
  });

  test("of who is alone are carried out together and then handed over, but not more than a few", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns(loop);
    const seen: string[] = [];
    for (let n = 0; n < 18; n++) {
      turns.take("flood", {
        carryOut: () => void seen.push(`${String(n)} done`),
        handOver: () => void seen.push(`${String(n)} out`),
      });
    }

    await loop.settle();

    const together = (from: number, to: number): string[] =>
      ["done", "out"].flatMap((end) =>
        Array.from({ length: to - from }, (_, at) => `${String(from + at)} ${end}`),
      );
    expect(seen).toEqual([...together(0, 16), ...together(16, 18)]);
  });

  test("that take long are not carried out together", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    let clock = 0;
    const turns = new Turns({ elapsed: () => clock, post: (lane, step) => loop.post(lane, step) });
    const seen: string[] = [];
    for (const name of ["a", "b"]) {
      turns.take("slow", {
        carryOut: () => {
          clock += 3;
          seen.push(`${name} done`);
        },
        handOver: () => void seen.push(`${name} out`),
      });
    }

    await loop.settle();

    expect(seen).toEqual(["a done", "a out", "b done", "b out"]);
  });

  test("come again for a client that was done", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns(loop);
    const seen: string[] = [];
    const second = { carryOut: () => void seen.push("second"), handOver: nothing };
    turns.take("a", { carryOut: nothing, handOver: () => turns.take("a", second) });

    await loop.settle();

    expect(seen).toEqual(["second"]);
  });
});
