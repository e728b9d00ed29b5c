import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/virtual-loop.ts";
import { Turns } from "./turns.ts";

describe("Turns", () => {
  test("go round between clients, in the order of each, after the few of who was alone", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns(loop);
    const seen: string[] = [];
    for (let n = 0; n < 18; n++) turns.take("flood", () => void seen.push(`flood ${String(n)}`));
    turns.take("a", () => void seen.push("a 0"));
    turns.take("b", () => void seen.push("b 0"));
    turns.take("a", () => void seen.push("a 1"));

    await loop.settle();

    const alone = Array.from({ length: 16 }, (_, n) => `flood ${String(n)}`);
    expect(seen).toEqual([...alone, "a 0", "b 0", "flood 16", "a 1", "flood 17"]);
  });

  test("come again for a client that was done", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const turns = new Turns(loop);
    const seen: string[] = [];
    turns.take("a", () => turns.take("a", () => void seen.push("second")));

    await loop.settle();

    expect(seen).toEqual(["second"]);
  });
});
