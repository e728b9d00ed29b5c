import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { encodeObject } from "../objects/stored-object.ts";
import { Mould } from "./object-template.ts";
import type { Birth } from "./object-template.ts";

const BIRTHS: readonly Birth[] = [
  { uid: "11111111-2222-3333-4444-555555555555", time: "2026-01-01T00:00:00Z" },
  { uid: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", time: "2027-12-31T23:59:59Z" },
  { uid: "99999999-8888-7777-6666-555555555555", time: "2028-02-29T12:00:00Z" },
];

const rules = [{ verbs: ["get"] }];

function role({ uid, time }: Birth): ApiObject {
  const managedFields = [{ fieldsV1: { "f:rules": {} }, manager: "é", time }];
  const metadata = { creationTimestamp: time, managedFields, name: "a", uid };
  return { apiVersion: "v1", kind: "Role", metadata, rules } as unknown as ApiObject;
}

describe("an object template", () => {
  test("produces the bytes that making and encoding the object would produce", () => {
    const mould = Mould.of({}, role);

    expect(BIRTHS.map((birth) => mould.cast(birth))).toEqual(
      BIRTHS.map((birth) => encodeObject(role(birth))),
    );
  });

  test("makes its object at most twice, and its copies share the equal parts", () => {
    let made = 0;
    const key = {};
    const make = (birth: Birth): ApiObject => {
      made += 1;
      return role(birth);
    };

    const objects = BIRTHS.map((birth) => Mould.of(key, make).cast(birth).object);

    expect(made).toBe(2);
    for (const object of objects) expect((object as unknown as { rules: unknown }).rules).toBe(rules);
  });

  test("refuses a uid of another length", () => {
    const mould = Mould.of({}, role);

    expect(() => mould.cast({ uid: "u", time: "2026-01-01T00:00:00Z" })).toThrow("one length");
  });
});
