import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import {
  conflict,
  expired,
  serviceUnavailable,
  tooLargeResourceVersion,
  tooManyRequests,
  toStatus,
} from "../../api/errors/api-error.ts";
import type { TransportEvent } from "../../client/transport.ts";
import { eventsInput, failureInput, openingInput, pageInput } from "./watcher-input.ts";

const A = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "x", name: "a", resourceVersion: "3" },
};
const SAME = (object: ApiObject): ApiObject => object;

function read(...events: readonly TransportEvent[]): unknown {
  const input = eventsInput(events, SAME);
  return input.type === "events" ? input.events : input;
}

async function* none(): AsyncGenerator<never> {}

describe("input of events", () => {
  test("consists of changes, bookmarks and refusals", () => {
    const end = { metadata: { resourceVersion: "9", annotations: { "k8s.io/initial-events-end": "true" } } };

    const events = read(
      { type: "ADDED", object: A },
      { type: "DELETED", object: A },
      { type: "BOOKMARK", object: { metadata: { resourceVersion: "8" } } },
      { type: "BOOKMARK", object: end },
      { type: "ERROR", object: toStatus(expired("too old")) },
    );

    expect(events).toEqual([
      { type: "put", object: A, key: "x\0a", version: "3" },
      { type: "delete", object: A, key: "x\0a", version: "3" },
      { type: "bookmark", version: "8", isInitialEnd: false },
      { type: "bookmark", version: "9", isInitialEnd: true },
      {
        type: "error",
        refusal: { code: 410, message: "too old", isAhead: false, retryAfterSeconds: undefined },
      },
    ]);
  });

  test.each([
    undefined,
    7,
    {},
    { metadata: null },
    { metadata: { name: "a" } },
    { metadata: { resourceVersion: 3, name: "a" } },
  ])("is malformed for %j", (object) => {
    expect(read({ type: "ADDED", object }, { type: "BOOKMARK", object })).toMatchObject([
      { type: "malformed" },
      { type: "malformed" },
    ]);
  });

  test("has objects in the form of the cache", () => {
    const input = eventsInput([{ type: "ADDED", object: A }], ({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      metadata: { ...metadata, generation: 7 },
    }));

    expect(input).toMatchObject({ events: [{ object: { metadata: { generation: 7 } }, version: "3" }] });
  });
});

describe("input of a page", () => {
  test("has objects, a version, and a token unless it is the last", () => {
    const value = { metadata: { resourceVersion: "7", continue: "t" }, items: [A, { metadata: {} }, null] };
    const last = { metadata: { resourceVersion: "7", continue: "" }, items: null };

    expect(pageInput({ code: 200, value, warnings: [] }, SAME)).toEqual({
      type: "page",
      objects: [A],
      version: "7",
      token: "t",
    });
    expect(pageInput({ code: 200, value: last, warnings: [] }, SAME)).toEqual({
      type: "page",
      objects: [],
      version: "7",
      token: undefined,
    });
  });

  test.each([undefined, "text", {}, { metadata: {} }])("is broken for %j", (value) => {
    expect(pageInput({ code: 200, value, warnings: [] }, SAME)).toMatchObject({ type: "broken" });
  });

  test("is a refusal, with or without a Status", () => {
    const status = toStatus(tooManyRequests("later", 4));

    expect(pageInput({ code: 429, value: status, warnings: [] }, SAME)).toMatchObject({
      refusal: { code: 429, retryAfterSeconds: 4 },
    });
    expect(pageInput({ code: 502, value: "<html>", warnings: [], retryAfterSeconds: 9 }, SAME)).toMatchObject(
      {
        refusal: { code: 502, message: "", retryAfterSeconds: 9 },
      },
    );
  });
});

describe("input of an opened stream", () => {
  test("is an acceptance or a refusal", () => {
    const refusal = toStatus(tooLargeResourceVersion(9, 5));

    expect(openingInput({ code: 200, refusal: undefined, items: none() })).toEqual({ type: "opened" });
    expect(openingInput({ code: 504, refusal, items: none() })).toMatchObject({
      refusal: { code: 504, isAhead: true, retryAfterSeconds: 1 },
    });
  });
});

describe("input of a failure", () => {
  test("is a broken connection, or a refusal if the client threw the API error", () => {
    const refused = conflict({ group: "", resource: "pods" }, "a");

    expect(failureInput(new Error("reset"))).toEqual({ type: "broken", why: "reset" });
    expect(failureInput(serviceUnavailable("no answer"))).toEqual({ type: "broken", why: "no answer" });
    expect(failureInput(refused)).toMatchObject({ type: "refused", refusal: { code: 409 } });
  });
});
