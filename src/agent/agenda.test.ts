import { describe, expect, test } from "vitest";
import { settableLoop } from "../base/fixture.ts";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import { Agenda } from "./agenda.ts";

describe("an Agenda", () => {
  test("calls appointments in order of time, and no cancelled ones", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const agenda = new Agenda(loop);
    const seen: string[] = [];
    const at = (seconds: number, name: string) =>
      agenda.add(loop.now() + seconds * 1000, "progress", () => seen.push(name));
    at(3, "third");
    at(1, "first");
    const cancelled = at(2, "never");
    at(2, "second");
    agenda.cancel(cancelled);
    await loop.settle();

    expect(seen).toEqual(["first", "second", "third"]);
  });

  test("calls appointments in order when the clock is set back", async () => {
    const world = new VirtualLoop({ seed: 1, name: "test" });
    const loop = settableLoop(world);
    const agenda = new Agenda(loop);
    const seen: string[] = [];
    const at = (seconds: number, name: string) =>
      agenda.add(loop.now() + seconds * 1000, "progress", () => seen.push(name));
    at(1, "first");
    at(2, "second");
    at(4, "fourth");
    loop.setBack(3_600_000);
    const cancelled = at(3, "never");
    at(3, "third");
    agenda.cancel(cancelled);
    await world.advance(4000);

    expect(seen).toEqual(["first", "second", "third", "fourth"]);
  });

  test("releases the callback of a finished appointment", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const agenda = new Agenda(loop);
    const kept = agenda.add(loop.now(), "progress", () => undefined);
    const cancelled = agenda.add(loop.now(), "progress", () => undefined);
    agenda.cancel(cancelled);
    await loop.settle();

    expect([kept.act, cancelled.act]).toEqual([undefined, undefined]);
  });

  test("lets the virtual loop settle after progress appointments, without waiting for periodic ones", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const agenda = new Agenda(loop);
    const seen: string[] = [];
    const startAt = loop.now();
    agenda.add(startAt + 1000, "progress", () => seen.push("done"));
    agenda.add(startAt + 5000, "periodic", () => seen.push("again"));
    await loop.settle();

    expect(seen).toEqual(["done"]);
    expect(loop.now() - startAt).toBe(1000);
  });

  test("calls nothing after its end", async () => {
    const loop = new VirtualLoop({ seed: 1, name: "test" });
    const agenda = new Agenda(loop);
    const seen: string[] = [];
    agenda.add(loop.now() + 1000, "progress", () => seen.push("late"));
    agenda.end();
    await loop.settle();

    expect(seen).toEqual([]);
  });
});
