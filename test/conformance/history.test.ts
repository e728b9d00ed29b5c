/** Setpoint's own history API: the writer of each revision, and past states of objects. */
import { describe, expect, test } from "vitest";
import type { JournalEntry } from "../../src/server/write/journal.ts";
import { TestApi } from "../api-harness.ts";
import type { ReplyBody } from "../api-harness.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const KEY = "/registry/configmaps/default/a";

function map(value: string): Record<string, unknown> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { value } };
}

function revisionOf(body: ReplyBody): number {
  return Number(body["metadata"]?.["resourceVersion"]);
}

describe("an object as it was", () => {
  test("is read at any revision of the window", async () => {
    await using api = await TestApi.start();
    const first = await api.send("POST", MAPS, map("1"));
    const second = await api.send("PUT", `${MAPS}/a`, map("2"));
    await api.send("DELETE", `${MAPS}/a`);
    const at = async (revision: number): Promise<readonly unknown[]> => {
      const query = `resourceVersion=${String(revision)}&resourceVersionMatch=Exact`;
      const { code, body } = await api.send("GET", `${MAPS}/a?${query}`);
      return [code, body["data"]?.["value"], revisionOf(body)];
    };
    const [one, two] = [revisionOf(first.body), revisionOf(second.body)];

    expect(await at(one)).toEqual([200, "1", one]);
    expect(await at(two)).toEqual([200, "2", two]);
    expect((await at(one - 1))[0]).toBe(404);
    expect((await at(two + 1))[0]).toBe(404);
  });

  test("is gone when its revision is", async () => {
    await using api = await TestApi.start();
    const first = await api.send("POST", MAPS, map("1"));
    const second = await api.send("PUT", `${MAPS}/a`, map("2"));
    await api.store.compact(revisionOf(second.body));

    const query = `resourceVersion=${String(revisionOf(first.body))}&resourceVersionMatch=Exact`;
    const { code, body } = await api.send("GET", `${MAPS}/a?${query}`);

    expect([code, body["reason"], body["message"]]).toEqual([
      410,
      "Expired",
      "The resourceVersion for the provided get is too old.",
    ]);
  });

  test("without Exact a revision is only the oldest that will do", async () => {
    await using api = await TestApi.start();
    const first = await api.send("POST", MAPS, map("1"));
    await api.send("PUT", `${MAPS}/a`, map("2"));

    const { body } = await api.send("GET", `${MAPS}/a?resourceVersion=${String(revisionOf(first.body))}`);

    expect(body["data"]).toEqual({ value: "2" });
  });
});

describe("the journal", () => {
  const author = { user: "admin", userAgent: "test/1" };

  test("says of each revision who wrote it, and why", async () => {
    await using api = await TestApi.start();
    const made = await api.send("POST", MAPS, map("1"));
    const because = { headers: { "setpoint-cause": "replica-set/42" } };
    const changed = await api.send("PUT", `${MAPS}/a?fieldManager=me`, map("2"), because);
    await api.send("DELETE", `${MAPS}/a`);

    expect(api.journal.of(KEY)).toMatchObject([
      { ...author, revision: revisionOf(made.body), manager: "test", cause: undefined },
      { ...author, revision: revisionOf(changed.body), manager: "me", cause: "replica-set/42" },
      { ...author, manager: "test" },
    ]);
    expect(api.journal.findByRevision(revisionOf(changed.body))).toMatchObject({
      keys: [KEY],
      manager: "me",
    });
  });

  test("has nothing of what changes nothing", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, map("1"));

    await api.send("PUT", `${MAPS}/a`, map("1"));
    await api.send("PUT", `${MAPS}/a?dryRun=All`, map("2"));
    await api.send("PUT", `${MAPS}/a`, { ...map("2"), metadata: { name: "a", resourceVersion: "1" } });

    expect(api.journal.of(KEY)).toHaveLength(1);
  });

  test("has nothing of a write that changes nothing in an object that waits for its end", async () => {
    await using api = await TestApi.start();
    await api.send("POST", MAPS, { ...map("1"), metadata: { name: "a", finalizers: ["example.com/x"] } });
    const { body } = await api.send("DELETE", `${MAPS}/a`);

    const again = await api.send("PUT", `${MAPS}/a`, body);

    expect(again.body).toEqual(body);
    expect(api.journal.of(KEY)).toHaveLength(2);
  });

  test("knows the writes of subresources, and of everything deleted at once", async () => {
    await using api = await TestApi.start();
    const namespace = "/api/v1/namespaces/default";
    await api.send("POST", MAPS, map("1"));
    await api.send(
      "PATCH",
      `${namespace}/status`,
      { status: {}, metadata: { labels: { a: "1" } } },
      {
        type: "application/merge-patch+json",
      },
    );
    await api.send("DELETE", `${MAPS}?fieldSelector=metadata.name%3Da`);

    const users = (key: string): readonly string[] =>
      api.journal.of(key).map(({ user }: JournalEntry) => user);
    expect(users("/registry/namespaces/default")).toEqual(["admin", "admin"]);
    expect(users(KEY)).toEqual(["admin", "admin"]);
  });
});
