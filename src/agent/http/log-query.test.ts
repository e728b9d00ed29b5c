import { describe, expect, test } from "vitest";
import { parseLogQuery } from "./log-query.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");

const ALL = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  sinceMs: undefined,
  limitBytes: undefined,
  stream: "All",
};

describe("the query of a log request", () => {
  test.each([
    ["", {}],
    ["follow=true&timestamps=t", { follow: true, timestamps: true }],
    ["follow=false", {}],
    ["tailLines=0&limitBytes=10", { tailLines: 0, limitBytes: 10 }],
    ["sinceSeconds=60", { sinceMs: NOW - 60_000 }],
    ["sinceTime=2026-05-01T11:59:00.5Z", { sinceMs: NOW - 59_500 }],
    ["stream=Stderr", { stream: "Stderr" }],
  ])("%s is understood", (query, expected) => {
    expect(parseLogQuery(new URLSearchParams(query), NOW)).toEqual({
      isPrevious: false,
      view: { ...ALL, ...expected },
    });
  });

  test("may ask for the run before", () => {
    expect(parseLogQuery(new URLSearchParams("previous=1"), NOW)).toMatchObject({ isPrevious: true });
  });

  test.each([
    ["tailLines=many", 400],
    ["sinceTime=yesterday", 400],
    ["tailLines=-1", 422],
    ["limitBytes=0", 422],
    ["sinceSeconds=0", 422],
    ["stream=stdin", 422],
    ["sinceSeconds=5&sinceTime=2026-05-01T11:59:00Z", 422],
  ])("%s is refused with %i", (query, status) => {
    expect(parseLogQuery(new URLSearchParams(query), NOW)).toMatchObject({ status });
  });
});
