import { describe, expect, test } from "vitest";
import { templateHash } from "./template-hash.ts";

describe("templateHash", () => {
  test("is equal for equal templates, and a valid label", () => {
    const template = { spec: { containers: [{ name: "a" }] } };

    expect(templateHash(template, undefined)).toBe(templateHash(structuredClone(template), undefined));
    expect(templateHash(template, undefined)).toMatch(/^[4-9bcdf]{1,10}$/);
  });

  test("differs for other templates and other collision counts", () => {
    const hashes = [{ a: 1 }, { a: 2 }].flatMap((template) => [
      templateHash(template, undefined),
      templateHash(template, 0),
      templateHash(template, 1),
    ]);

    expect(new Set(hashes).size).toBe(6);
  });
});
