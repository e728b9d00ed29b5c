import { describe, expect, test } from "vitest";
import {
  collectFieldErrors,
  FieldErrors,
  fieldErrorsText,
  fieldErrorText,
  fieldPath,
} from "./field-error.ts";

function textOf(add: (errors: FieldErrors) => void): string {
  const errors = new FieldErrors();
  add(errors);
  return errors.found.map(fieldErrorText).join("\n");
}

describe("field paths", () => {
  test("children, positions and keys are written as upstream writes them", () => {
    const containers = fieldPath("spec").child("containers");

    expect(String(containers.index(0).child("ports").index(1))).toBe("spec.containers[0].ports[1]");
    expect(String(fieldPath("metadata", "labels").key("a"))).toBe("metadata.labels[a]");
    expect(String(fieldPath().child("spec", "template"))).toBe("spec.template");
    expect(String(containers)).toBe("spec.containers");
  });
});

describe("field errors", () => {
  test.each<[string, (errors: FieldErrors) => void]>([
    ["spec.a: Required value", (e) => e.required("spec.a")],
    ["spec.a: Required value: say why", (e) => e.required("spec.a", "say why")],
    ['spec.a: Invalid value: "x\\n": must not', (e) => e.invalid("spec.a", "x\n", "must not")],
    ["spec.a: Invalid value: -1: must not", (e) => e.invalid("spec.a", -1, "must not")],
    ["spec.a: Invalid value: true: must not", (e) => e.invalid("spec.a", true, "must not")],
    ['spec.a: Invalid value: {"b":[1]}: must not', (e) => e.invalid("spec.a", { b: [1] }, "must not")],
    [
      'spec.a: Invalid value: {"b":"\\u003cc\\u0026\\u003e"}: no',
      (e) => e.invalid("spec.a", { b: "<c&>" }, "no"),
    ],
    ["spec.a: Invalid value: null: must not", (e) => e.invalid("spec.a", undefined, "must not")],
    [
      "spec.a: Invalid value: 9223372036854775807: must not",
      (e) => e.invalid("spec.a", 2n ** 63n - 1n, "must not"),
    ],
    [
      'spec.a: Invalid value: {"b":9223372036854775807}: must not',
      (e) => e.invalid("spec.a", { b: 2n ** 63n - 1n }, "must not"),
    ],
    [
      'spec.a: Unsupported value: "x": supported values: "a", "b"',
      (e) => e.notSupported("spec.a", "x", ["a", "b"]),
    ],
    ['spec.a: Unsupported value: "x"', (e) => e.notSupported("spec.a", "x", [])],
    ["spec.a: Forbidden: not now", (e) => e.forbidden("spec.a", "not now")],
    ['spec.a[1]: Duplicate value: "x"', (e) => e.duplicate(fieldPath("spec", "a").index(1), "x")],
    ['spec.a: Not found: "x"', (e) => e.notFound("spec.a", "x")],
    ["spec.a: Too long: may not be more than 10 bytes", (e) => e.tooLong("spec.a", 10)],
    ["spec.a: Too long: may not be more than 1 byte", (e) => e.tooLong("spec.a", 1)],
    ["spec.a: Too long: may not be more than 5 characters", (e) => e.tooLongCharacters("spec.a", 5)],
    ["spec.a: Too short: must be at least 1 character", (e) => e.tooShort("spec.a", 1)],
    ["spec.a: Too many: 5: must have at most 3 items", (e) => e.tooMany("spec.a", 5, 3)],
    ["spec.a: Too few: 0: must have at least 1 item", (e) => e.tooFew("spec.a", 0, 1)],
    ['spec.a: Invalid value: "x": must be a number', (e) => e.typeInvalid("spec.a", "x", "must be a number")],
    ["spec.a: Internal error: boom", (e) => e.internal("spec.a", new Error("boom"))],
  ])("%s", (text, add) => {
    expect(textOf(add)).toBe(text);
  });

  test("immutable adds an error only if the value changed", () => {
    expect(textOf((e) => e.immutable("spec.a", { b: [1] }, { b: [1] }))).toBe("");
    expect(textOf((e) => e.immutable("spec.a", null, undefined))).toBe("");
    expect(textOf((e) => e.immutable("spec.a", "y", "x"))).toBe(
      'spec.a: Invalid value: "y": field is immutable',
    );
  });

  test("invalidFor adds an error for each message", () => {
    expect(textOf((e) => e.invalidFor("spec.a", "x", ["one", "two"]))).toBe(
      'spec.a: Invalid value: "x": one\nspec.a: Invalid value: "x": two',
    );
  });

  test("isEmpty is true until errors are appended", () => {
    const errors = new FieldErrors();
    const others = new FieldErrors();
    others.required("a");

    expect(errors.isEmpty).toBe(true);
    errors.append(others.found);
    expect(errors.isEmpty).toBe(false);
    expect(fieldErrorsText(errors.found)).toBe("a: Required value");
    expect(fieldErrorsText([])).toBe("");
  });

  test("strings are quoted as Go quotes them", () => {
    const text = 'é "\\ \u0001 \u200b \u{e0001} 日本 \u0007';

    expect(textOf((e) => e.invalid("a", text, "no"))).toBe(
      'a: Invalid value: "é \\"\\\\ \\x01 \\u200b \\U000e0001 日本 \\a": no',
    );
  });
});

describe("collectFieldErrors", () => {
  const LONG = "x".repeat(1000);

  test("returns all errors that the validation finds", () => {
    const { found, isCut } = collectFieldErrors((errors) => {
      errors.required("a");
      errors.invalid("b", 1, "no");
    });

    expect([found.map(fieldErrorText), isCut]).toEqual([
      ["a: Required value", "b: Invalid value: 1: no"],
      false,
    ]);
  });

  test("ends the validation once the limit is reached", () => {
    let calls = 0;

    const { found, isCut } = collectFieldErrors((errors) => {
      for (; calls < 1_000_000; calls++) errors.invalid("a", LONG, "no");
    });

    expect([found.length < 300, calls < 300, isCut]).toEqual([true, true, true]);
  });

  test("rethrows every other error", () => {
    const failing = (): never => {
      throw new TypeError("a bug");
    };

    expect(() => collectFieldErrors(failing)).toThrow(TypeError);
  });
});
