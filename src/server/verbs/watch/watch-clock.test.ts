import { expect, test } from "vitest";
import { nextAlarm } from "./watch-clock.ts";

test("the alarms of a watch are a bookmark each minute, a last one two seconds before the end, and the end", () => {
  const endAt = 150_000;
  const alarms: object[] = [];
  for (let now = 0; now < endAt; now = nextAlarm(now, endAt).at) alarms.push(nextAlarm(now, endAt));

  expect(alarms).toEqual([
    { type: "bookmark", at: 60_000 },
    { type: "bookmark", at: 120_000 },
    { type: "bookmark", at: 148_000 },
    { type: "end", at: 150_000 },
  ]);
});

test.each([2, 1, 0, -5])("a watch of %i seconds only ends", (seconds) => {
  expect(nextAlarm(0, seconds * 1000)).toEqual({ type: "end", at: seconds * 1000 });
});
