import { expect, test } from "vitest";
import { LocalNodeRegistry } from "./node-http.ts";

test("a node is found until it is removed, and its removal leaves a successor in place", () => {
  const nodes = new LocalNodeRegistry();
  const [first, second] = [{ accept: () => undefined }, { accept: () => undefined }];

  const removeFirst = nodes.add("a", first);
  expect(nodes.find("a")).toBe(first);
  const removeSecond = nodes.add("a", second);
  removeFirst();
  expect(nodes.find("a")).toBe(second);
  removeSecond();
  expect(nodes.find("a")).toBeUndefined();
});
