import { describe, expect, test } from "vitest";
import { slowStart } from "./slow-start.ts";

describe("slowStart", () => {
  test("doubles its batches while no task fails", async () => {
    const batches: number[] = [];
    let open = 0;
    const task = async (): Promise<void> => {
      if (open === 0) batches.push(0);
      open += 1;
      batches[batches.length - 1] = open;
      await Promise.resolve();
      open = 0;
    };

    const result = await slowStart(10, task);

    expect(result).toEqual({ done: 10, errors: [] });
    expect(batches).toEqual([1, 2, 4, 3]);
  });

  test("starts no further batch after a failure", async () => {
    const tried: number[] = [];

    const result = await slowStart(100, async (index) => {
      tried.push(index);
      await Promise.resolve();
      if (index === 1) throw new Error("quota");
    });

    expect(tried).toEqual([0, 1, 2]);
    expect(result.done).toBe(2);
    expect(result.errors).toEqual([new Error("quota")]);
  });

  test("calls no task when the count is 0", async () => {
    expect(await slowStart(0, () => Promise.reject(new Error("called")))).toEqual({ done: 0, errors: [] });
  });
});
