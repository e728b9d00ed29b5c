import { describe, expect, test } from "vitest";
import type { PolicyRule } from "../../../../api/generated/types/rbac-v1.ts";
import { asked, user } from "../fixture.ts";
import { ruleAllows } from "./rule-match.ts";

const BOB = user("bob");

function rule(text: string): PolicyRule {
  const [verbs = "", apiGroups = "", resources = "", resourceNames = ""] = text.split(" ");
  const list = (words: string): string[] => words.split(",").map((word) => (word === "core" ? "" : word));
  return {
    verbs: list(verbs),
    apiGroups: list(apiGroups),
    resources: list(resources),
    ...(resourceNames !== "" && { resourceNames: list(resourceNames) }),
  };
}

describe("a rule allows", () => {
  test.each([
    ["get core pods", "get", {}, true],
    ["get core pods", "list", {}, false],
    ["* core pods", "deletecollection", {}, true],
    ["get apps pods", "get", {}, false],
    ["get * pods", "get", {}, true],
    ["get core *", "get", {}, true],
    ["get core *", "get", { subresource: "log" }, true],
    ["get core pods", "get", { subresource: "log" }, false],
    ["get core pods/log", "get", { subresource: "log" }, true],
    ["get core pods/log", "get", {}, false],
    ["get core */log", "get", { subresource: "log" }, true],
    ["get core */log", "get", { subresource: "status" }, false],
    ["get core */log", "get", {}, false],
    ["get core pods/*", "get", { subresource: "log" }, false],
    ["get core pods/*", "get", {}, false],
    ["get core pods web", "get", { name: "web" }, true],
    ["get core pods web", "get", { name: "db" }, false],
    ["list core pods web", "list", {}, false],
    ["list core pods web", "list", { name: "web" }, true],
    ["create core pods web", "create", {}, false],
    ["Get core pods", "get", {}, false],
    ["get core Pods", "get", {}, false],
  ] as const)("%s: %s %o is %s", (...row) => {
    const [text, verb, about, isAllowed] = row;

    expect(ruleAllows(rule(text), asked(BOB, verb, about))).toBe(isAllowed);
  });

  test.each([
    ["/healthz", "/healthz", true],
    ["/healthz", "/healthz/", false],
    ["/healthz/*", "/healthz/etcd", true],
    ["/healthz/*", "/healthz/", true],
    ["/healthz/*", "/healthz", false],
    ["/health*", "/healthz", true],
    ["*", "/anything", true],
    ["/a/*/b", "/a/x/b", false],
    ["", "/", false],
  ])("the path %s: %s is %s", (url, path, isAllowed) => {
    const onPaths = { verbs: ["get"], nonResourceURLs: [url] };

    expect(ruleAllows(onPaths, asked(BOB, "get", { path }))).toBe(isAllowed);
    expect(ruleAllows(onPaths, asked(BOB, "post", { path }))).toBe(false);
  });

  test("no resource by a rule about paths, and no path by a rule about resources", () => {
    const onPaths = { verbs: ["*"], nonResourceURLs: ["*"] };

    expect(ruleAllows(onPaths, asked(BOB, "get"))).toBe(false);
    expect(ruleAllows(rule("* * *"), asked(BOB, "get", { path: "/metrics" }))).toBe(false);
  });
});
