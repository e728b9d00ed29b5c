import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import { EventCorrelation, type Correlation, type ObservedEvent } from "./event-correlation.ts";

function observed(message: string, name = "web"): ObservedEvent {
  const about: ApiObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", uid: name },
  };
  return { component: "test", about, event: { type: "Normal", reason: "Pulled", message } };
}

function messageOf(correlation: Correlation): string | undefined {
  return correlation.type === "kept" ? correlation.message : undefined;
}

describe("EventCorrelation", () => {
  test("the same event has the same key, and one with another message has another key", () => {
    const correlation = new EventCorrelation();

    const [one, same, other] = ["a", "a", "b"].map((message) => correlation.correlate(observed(message), 0));

    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
  });

  test("from the tenth message on, similar events share one key", () => {
    const correlation = new EventCorrelation();

    const all = Array.from({ length: 14 }, (_, n) => correlation.correlate(observed(`message ${n}`), n));

    expect(all.slice(0, 9).map(messageOf)).toEqual(Array.from({ length: 9 }, (_, n) => `message ${n}`));
    expect(all.slice(9).map(messageOf)).toEqual(
      [9, 10, 11, 12, 13].map((n) => `(combined from similar events): message ${n}`),
    );
    expect(new Set(all.slice(9).map((each) => (each.type === "kept" ? each.key : ""))).size).toBe(1);
  });

  test("similar events that are ten minutes apart are shown one by one again", () => {
    const correlation = new EventCorrelation();
    for (let n = 0; n < 12; n++) correlation.correlate(observed(`message ${n}`), n);

    expect(messageOf(correlation.correlate(observed("late"), 700_000))).toBe("late");
  });

  test("an object with too many events is limited, others are not", () => {
    const correlation = new EventCorrelation();

    const all = Array.from({ length: 30 }, () => correlation.correlate(observed("again"), 0));

    expect(all.filter(({ type }) => type === "kept")).toHaveLength(25);
    expect(correlation.correlate(observed("again", "other"), 0).type).toBe("kept");
    expect(correlation.correlate(observed("again"), 300_000).type).toBe("kept");
  });

  test("a message is cut to the API's limit at a whole character", () => {
    const message = messageOf(new EventCorrelation().correlate(observed("ä".repeat(600)), 0)) ?? "";

    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024);
    expect(message).toMatch(/^ä+$/);
  });
});
