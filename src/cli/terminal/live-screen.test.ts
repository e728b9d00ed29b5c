import { describe, expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { recordingScreen } from "./fixture.ts";
import { Frame, type ScreenSize } from "./frame.ts";
import { LiveScreen } from "./live-screen.ts";
import type { FullScreen } from "./terminal.ts";

const SIZE = { columns: 10, rows: 2 };

describe("a live screen", () => {
  test("draws at most twenty frames a second", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const screen = recordingScreen(SIZE);
    let count = 0;
    const live = liveScreen(screen, loop, (size) => numbered(size, (count += 1)));

    for (let ms = 0; ms < 1000; ms += 5) {
      live.refresh();
      await loop.advance(5);
    }

    expect(count).toBeGreaterThan(15);
    expect(count).toBeLessThanOrEqual(21);
    expect(screen.written).toHaveLength(count);
  });

  test("writes nothing when the picture is the same, and all after a resize", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const screen = recordingScreen(SIZE);
    const live = liveScreen(screen, loop, (size) => numbered(size, 7));

    live.refresh();
    await loop.advance(100);
    live.refresh();
    await loop.advance(100);
    const before = screen.written.length;
    live.redraw();
    await loop.advance(100);

    expect(before).toBe(1);
    expect(screen.written).toHaveLength(2);
    expect(screen.written[1]).toContain("7");
  });

  test("waits for a terminal that takes its time", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const screen = recordingScreen(SIZE);
    screen.isSlow = true;
    let count = 0;
    const live = liveScreen(screen, loop, (size) => numbered(size, (count += 1)));

    live.refresh();
    await loop.advance(100);
    for (let again = 0; again < 50; again++) {
      live.refresh();
      await loop.advance(50);
    }
    const whileSlow = count;
    screen.drain();
    await loop.advance(100);

    expect(whileSlow).toBe(1);
    expect(count).toBe(2);
  });

  test("draws no more once it is closed", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const screen = recordingScreen(SIZE);
    const live = liveScreen(screen, loop, (size) => numbered(size, 1));

    live.refresh();
    live.close();
    live.refresh();
    await loop.advance(100);

    expect(screen.written).toEqual([]);
  });
});

function liveScreen(screen: FullScreen, loop: VirtualLoop, draw: (size: ScreenSize) => Frame): LiveScreen {
  return new LiveScreen({ screen, loop: loop.child("screen"), depth: "none", draw });
}

function numbered(size: ScreenSize, count: number): Frame {
  const frame = new Frame(size);
  frame.put({ x: 0, y: 0 }, String(count));
  return frame;
}
