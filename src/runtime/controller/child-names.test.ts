import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import { dns1123Label, dns1123Subdomain } from "../../api/values/names.ts";
import { childName } from "./child-names.ts";

function owner(name: string, uid = "uid-1"): ApiObject {
  return { apiVersion: "v1", kind: "Widget", metadata: { name, uid } };
}

describe("childName", () => {
  test("the same owner and role give the same name", () => {
    expect(childName(owner("web"), "config")).toBe(childName(owner("web"), "config"));
    expect(childName(owner("web"), "config")).toMatch(/^web-config-[a-z0-9]{10}$/);
  });

  test("owners and roles whose joined names are equal get different child names", () => {
    const names = [
      childName(owner("a-b", "1"), "c"),
      childName(owner("a", "2"), "b-c"),
      childName(owner("a", "3"), "b-c"),
    ];

    expect(new Set(names).size).toBe(3);
  });

  test("names of any length stay valid and within their limit", () => {
    for (const name of ["x".repeat(253), `${"x".repeat(51)}.yyyyy`, "a.b.c", `${"x".repeat(241)}.y`]) {
      expect(dns1123Label(childName(owner(name), "role"))).toEqual([]);
      expect(dns1123Subdomain(childName(owner(name), "role", 253))).toEqual([]);
      expect(childName(owner(name), "role", 253).length).toBeLessThanOrEqual(253);
    }
  });
});
