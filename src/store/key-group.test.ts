import { describe, expect, test } from "vitest";
import { groupMeets, groupOf, isUnder } from "./key-group.ts";

describe("groupOf", () => {
  test.each([
    ["/registry/pods/default/web-1", "/registry/pods/"],
    ["/registry/pods/", "/registry/pods/"],
    ["/registry/namespaces/default", "/registry/namespaces/"],
    ["/registry/example.com/widgets/default/a", "/registry/example.com/widgets/"],
    ["/registry/example.com/widgets/default/a.b", "/registry/example.com/widgets/"],
    ["/registry/configmaps/default/with.dot", "/registry/configmaps/"],
    ["/registry/example.com/alone", "/registry/example.com/alone"],
    ["/registry/alone", "/registry/alone"],
    ["alone", "alone"],
    ["", ""],
  ])("the key %s is in the group %s", (key, group) => {
    expect(groupOf(key)).toBe(group);
  });
});

describe("isUnder", () => {
  test("a prefix ends at a slash, so a resource is not under another whose name begins like it", () => {
    expect(isUnder("/registry/podsets/a", "/registry/pods/")).toBe(false);
    expect(isUnder("/registry/pods/a", "/registry/pods")).toBe(false);
    expect(isUnder("/registry/pods/a", "/registry/pods/")).toBe(true);
    expect(isUnder("/registry/pods/a", "/registry/pods/a")).toBe(true);
    expect(isUnder("/registry/pods/a", "")).toBe(true);
  });
});

describe("groupMeets", () => {
  test("a prefix meets the groups above it and below it", () => {
    expect(groupMeets("/registry/pods/", "/registry/")).toBe(true);
    expect(groupMeets("/registry/pods/", "/registry/pods/default/")).toBe(true);
    expect(groupMeets("/registry/pods/", "/registry/nodes/")).toBe(false);
  });
});

test("a key's group does not depend on which keys were asked for before", () => {
  const keys = [
    "/registry/ranges",
    "/registry/ranges2",
    "/registry/example.com/",
    "/registry/example.com/widgets/default/a",
    "/registry/example.com/widgetsets/default/a",
    "/registry/pods/",
    "/registry/pods/a.b/c",
    "/registry/pods",
  ];
  const first = keys.map((key) => groupOf(key));
  for (const before of keys) {
    for (const [index, key] of keys.entries()) {
      groupOf(before);
      expect(groupOf(key)).toBe(first[index]);
    }
  }
  expect(first.slice(0, 4)).toEqual([
    "/registry/ranges",
    "/registry/ranges2",
    "/registry/example.com/",
    "/registry/example.com/widgets/",
  ]);
});
