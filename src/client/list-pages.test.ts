import { describe, expect, test } from "vitest";
import { ApiError, expired } from "../api/errors/api-error.ts";
import type { ListOptions, ObjectList } from "./client.ts";
import { listPages } from "./list-pages.ts";

type Response = ObjectList<string> | ApiError;

function page(items: readonly string[], token?: string): ObjectList<string> {
  return { items, metadata: { resourceVersion: "1", ...(token !== undefined && { continue: token }) } };
}

async function read(
  options: ListOptions,
  responses: readonly Response[],
): Promise<{ readonly requests: readonly ListOptions[]; readonly items: readonly string[] }> {
  const requests: ListOptions[] = [];
  const items: string[] = [];
  const pages = listPages(options, async (made) => {
    requests.push(made);
    const response = responses[Math.min(requests.length, responses.length) - 1] ?? page([]);
    if (response instanceof ApiError) throw response;
    return response;
  });
  for await (const { items: some } of pages) items.push(...some);
  return { requests, items };
}

describe("listPages", () => {
  test("follows the continue tokens to the end", async () => {
    const { requests, items } = await read({ labelSelector: "a=b", resourceVersion: "7" }, [
      page(["a"], "t1"),
      page(["b"]),
    ]);

    expect(items).toEqual(["a", "b"]);
    expect(requests).toEqual([
      { labelSelector: "a=b", resourceVersion: "7", limit: 500 },
      { labelSelector: "a=b", limit: 500, continue: "t1" },
    ]);
  });

  test("continues with the token in the error for an expired one", async () => {
    const { requests, items } = await read({ limit: 1 }, [
      page(["a"], "t1"),
      expired("old", "t2"),
      page(["b"]),
    ]);

    expect(items).toEqual(["a", "b"]);
    expect(requests.map(({ continue: token }) => token)).toEqual([undefined, "t1", "t2"]);
  });

  test("continues as often as a token expires after a page", async () => {
    const turns = Array.from({ length: 20 }, () => [page(["a"], "t1"), expired("old", "t2")]).flat();

    const { items } = await read({ limit: 1 }, [...turns, page(["b"])]);

    expect(items).toHaveLength(21);
  });

  test("starts over when the error has no token", async () => {
    const { requests } = await read({ limit: 1 }, [page(["a"], "t1"), expired("old"), page(["a"])]);

    expect(requests.map(({ continue: token }) => token)).toEqual([undefined, "t1", undefined]);
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
