import { describe, expect, test } from "vitest";
import { ApiError, expired } from "../api/errors/api-error.ts";
import type { ListOptions, ObjectList } from "./client.ts";
import { listPages } from "./list-pages.ts";

type Answer = ObjectList<string> | ApiError;

function page(items: readonly string[], token?: string): ObjectList<string> {
  return { items, metadata: { resourceVersion: "1", ...(token !== undefined && { continue: token }) } };
}

async function read(
  options: ListOptions,
  answers: readonly Answer[],
): Promise<{ readonly asked: readonly ListOptions[]; readonly items: readonly string[] }> {
  const asked: ListOptions[] = [];
  const items: string[] = [];
  const pages = listPages(options, async (made) => {
    asked.push(made);
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? page([]);
    if (answer instanceof ApiError) throw answer;
    return answer;
  });
  for await (const { items: some } of pages) items.push(...some);
  return { asked, items };
}

describe("listPages", () => {
  test("follows the continue tokens to the end", async () => {
    const { asked, items } = await read({ labelSelector: "a=b", resourceVersion: "7" }, [
      page(["a"], "t1"),
      page(["b"]),
    ]);

    expect(items).toEqual(["a", "b"]);
    expect(asked).toEqual([
      { labelSelector: "a=b", resourceVersion: "7", limit: 500 },
      { labelSelector: "a=b", limit: 500, continue: "t1" },
    ]);
  });

  test("continues with the token in the error for an expired one", async () => {
    const { asked, items } = await read({ limit: 1 }, [page(["a"], "t1"), expired("old", "t2"), page(["b"])]);

    expect(items).toEqual(["a", "b"]);
    expect(asked.map(({ continue: token }) => token)).toEqual([undefined, "t1", "t2"]);
  });

  test("starts over when the error has no token", async () => {
    const { asked } = await read({ limit: 1 }, [page(["a"], "t1"), expired("old"), page(["a"])]);

    expect(asked.map(({ continue: token }) => token)).toEqual([undefined, "t1", undefined]);
  });

  test("gives up on a server where every token expires", async () => {
    await expect(read({}, [page(["a"], "t1"), expired("old", "t2")])).rejects.toMatchObject({
      reason: "Expired",
    });
  });

  test("rejects when the first page is rejected", async () => {
    await expect(read({ resourceVersion: "1" }, [expired("old")])).rejects.toMatchObject({
      reason: "Expired",
    });
  });
});
