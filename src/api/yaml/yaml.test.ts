import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringifyYaml } from "./yaml-text.ts";
import { YAML_BYTES_MAX, parseYaml } from "./yaml.ts";

const read = (text: string): unknown => parseYaml(Buffer.from(text)).value;

describe("parseYaml", () => {
  test.each<[string, unknown]>([
    ["true", true],
    ["True", true],
    ["yes", true],
    ["on", true],
    ["y", true],
    ["no", false],
    ["Off", false],
    ["N", false],
    ["~", null],
    ["null", null],
    ["Null", null],
    ["''", ""],
    ['"yes"', "yes"],
    ["yess", "yess"],
    ["0644", 420],
    ["0o644", 420],
    ["-0644", -420],
    ["0x1F", 31],
    ["0b101", 5],
    ["1_000", 1000],
    ["+12", 12],
    ["-12", -12],
    ["08", 8],
    ["0", 0],
    ["1.5", 1.5],
    ["1e3", 1000],
    [".5", 0.5],
    ["1.", 1],
    ["1_0.5", 10.5],
    ["9007199254740993", 9007199254740993n],
    ["18446744073709551615", 18446744073709551615n],
    ["18446744073709551616", 18446744073709551616],
    ["2001-01-01", "2001-01-01"],
    ["1:30", "1:30"],
    ["1.2.3", "1.2.3"],
    ["0x", "0x"],
    ["-", [null]],
    ["- 1", [1]],
    ["10m", "10m"],
    ["!!str 5", "5"],
    ['!!int "5"', 5],
    ["!!binary aGk=", "hi"],
    ["|\n  a\n  b\n", "a\nb\n"],
    [">-\n  a\n  b\n", "a b"],
  ])("reads %j as kubectl does", (text, value) => {
    expect(read(text)).toEqual(value);
  });

  test("an object reads as expected", () => {
    const text =
      "# comment\n---\napiVersion: v1\nmetadata:\n  name: x\n  labels: {a: b}\nlist:\n- a: 1\n- [x, 'y']\n";

    expect(read(text)).toEqual({
      apiVersion: "v1",
      metadata: { name: "x", labels: { a: "b" } },
      list: [{ a: 1 }, ["x", "y"]],
    });
    expect(read("")).toBe(null);
    expect(read("a:\nb: ''\n")).toEqual({ a: null, b: "" });
  });

  test("keys become strings", () => {
    expect(read("1: a\ntrue: b\n1.5: c\n")).toEqual({ "1": "a", true: "b", "1.5": "c" });
    expect(() => read("? [a]\n: b\n")).toThrow("unsupported map key");
    expect(() => read("~: b\n")).toThrow("unsupported map key");
  });

  test("JSON is read as JSON, whatever its size, with int64 exact", () => {
    const text = `{"a":9007199254740993,"b":"${"x".repeat(YAML_BYTES_MAX)}"}`;

    expect(read(text)).toMatchObject({ a: 9007199254740993n });
    expect(read("{a: 1, b: [yes]}")).toEqual({ a: 1, b: [true] });
  });

  test("duplicate keys are reported with their line, and the last value wins", () => {
    const text = "a: 1\nb:\n  foo: 1\n  bar: 2\n  foo: 3\n1: x\n1: z\n";

    expect(parseYaml(Buffer.from(text))).toEqual({
      value: { a: 1, b: { foo: 3, bar: 2 }, "1": "z" },
      duplicates: ['line 5: key "foo" already set in map', "line 7: key 1 already set in map"],
    });
    expect(parseYaml(Buffer.from('{"a":1,"a":2}')).duplicates).toEqual(['key "a" already set in map']);
  });

  test("the reports of duplicate keys are bounded, however often aliases repeat them", () => {
    const key = "k".repeat(10_000);
    const aliases = Array.from({ length: 1000 }, () => "*m").join(", ");

    const { duplicates } = parseYaml(Buffer.from(`a: &m {${key}: 1, ${key}: 2}\nb: [${aliases}]\n`), {
      maxAliases: 1000,
    });

    expect(duplicates.length).toBeGreaterThan(1);
    expect(duplicates.join("").length).toBeLessThan(300_000);
  });

  test("__proto__ is an ordinary key", () => {
    const object = read("__proto__:\n  polluted: 1\nconstructor: 2\n") as object;

    expect(Object.hasOwn(object, "__proto__")).toBe(true);
    expect("polluted" in object).toBe(false);
    expect("polluted" in {}).toBe(false);
    expect(read("x: {<<: {__proto__: {polluted: 1}}}")).not.toHaveProperty("x.polluted");
  });

  test("aliases are refused unless they are allowed", () => {
    const text = "base: &base {a: 1, b: 2}\nx:\n  <<: *base\n  b: 3\nz: *base\n";

    expect(() => read(text)).toThrow(RangeError);
    expect(parseYaml(Buffer.from(text), { maxAliases: 2 }).value).toEqual({
      base: { a: 1, b: 2 },
      x: { a: 1, b: 3 },
      z: { a: 1, b: 2 },
    });
    expect(() => parseYaml(Buffer.from("a: *b"), { maxAliases: 1 })).toThrow(SyntaxError);
  });

  test("an alias bomb and an alias of itself are refused", () => {
    const levels = Array.from({ length: 9 }, (_, i) => {
      const before = `*l${i}`;
      return `l${i + 1}: &l${i + 1} [${Array<string>(9).fill(before).join(",")}]`;
    });
    const bomb = ["l0: &l0 [x,x,x,x,x,x,x,x,x]", ...levels].join("\n");

    expect(() => parseYaml(Buffer.from(bomb), { maxAliases: 1e9 })).toThrow(RangeError);
    expect(() => parseYaml(Buffer.from("a: &a [*a]"), { maxAliases: 1e9 })).toThrow(RangeError);
    expect(() => parseYaml(Buffer.from("a: &a {<<: *a}"), { maxAliases: 1e9 })).toThrow(RangeError);
  });

  test.each([
    ["a: 1\n---\nb: 2\n", "expected one YAML document, found several"],
    ["a: b: c", /^yaml: line 1: /],
    ["a: 1\n b: 2\n", /^yaml: line [12]: /],
    ["a: [1", /^yaml: line 1: /],
    ["a: .inf", "json: unsupported value: +Inf"],
    ["a: .nan", "json: unsupported value: NaN"],
    ["a: \u0001", "yaml: control characters are not allowed"],
    ["x: {<<: 1}", "yaml: map merge requires map or sequence of maps as the value"],
  ])("refuses %j", (text, message) => {
    expect(() => read(text)).toThrow(SyntaxError);
    expect(() => read(text)).toThrow(message);
  });

  test("refuses invalid UTF-8 and long texts", () => {
    expect(() => parseYaml(Uint8Array.from([0x61, 0x3a, 0x20, 0xff]))).toThrow(SyntaxError);
    expect(() => read(`a: ${"x".repeat(YAML_BYTES_MAX)}`)).toThrow(RangeError);
  });

  const SIZE = YAML_BYTES_MAX - 100;
  test.each([
    ["flow brackets", "[".repeat(SIZE)],
    ["flow maps", "{a: ".repeat(SIZE / 4)],
    ["deep flow items", `${"[".repeat(200)}${"a,".repeat(SIZE / 2 - 300)}${"]".repeat(200)}`],
    ["deep block items", `${"- ".repeat(200)}a\n${`${" ".repeat(398)}- a\n`.repeat(SIZE / 402 - 2)}`],
    ["ever deeper lines", `${"- ".repeat(200)}a\n`.repeat(SIZE / 402)],
    ["dashes", "- ".repeat(SIZE / 2)],
    ["question marks", "? ".repeat(SIZE / 2)],
    ["steps", Array.from({ length: 350 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
    ["small items", "- a\n".repeat(SIZE / 4)],
    [
      "small keys",
      Array.from({ length: SIZE / 9 }, (_, i) => `k${i}: 1`)
        .join("\n")
        .slice(0, SIZE),
    ],
    ["flow items", `[${"a,".repeat(SIZE / 2 - 1)}a]`],
    ["anchors", "- &a x\n".repeat(SIZE / 7)],
    ["tags", "- !!str x\n".repeat(SIZE / 10)],
    ["comments", "#\n".repeat(SIZE / 2)],
    ["one plain scalar", `a: ${"x y\n  ".repeat(SIZE / 6)}`],
    ["one quoted scalar", `"${"\\n".repeat(SIZE / 2 - 2)}"`],
    ["one block", `a: |\n${"  x\n".repeat(SIZE / 4 - 2)}`],
    ["blank lines", `a: |\n${"\n".repeat(SIZE)}`],
    ["colons", ":".repeat(SIZE)],
    ["documents", "---\n".repeat(SIZE / 4)],
    ["directives", "%A b\n".repeat(SIZE / 5)],
    ["tabs", "\t".repeat(SIZE)],
    ["quotes", "'".repeat(SIZE)],
  ])("the largest text of %s takes bounded time", (_name, text) => {
    const before = process.cpuUsage();
    try {
      read(text);
    } catch (error) {
      expect(error instanceof SyntaxError || error instanceof RangeError).toBe(true);
    }
    const spent = process.cpuUsage(before).user / 1000;

    // Takes less than 100 ms on an idle machine; the bound allows for tests in parallel.
    expect(spent).toBeLessThan(500);
  });
});

describe("stringifyYaml", () => {
  test("writes YAML as kubectl does", () => {
    const object = {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name: "x", creationTimestamp: "2026-01-02T03:04:05Z", labels: {}, finalizers: [] },
      data: {
        file: "a: 1\nb: 2\n",
        "no-end": "a\nb",
        "two-ends": "a\n\n",
        yes: "yes",
        number: "1",
        empty: "",
        colon: "a: b",
        star: "*x",
        quote: "it's #1",
        tab: "a\tb",
        control: "\u0001",
        "trailing-space": "a \nb",
      },
      list: [{ b: 1, a: [1, [2, 3]] }, [], "x", { c: { d: null } }],
      a10: 1,
      a2: 2,
      big: 9007199254740993n,
    };

    expect(stringifyYaml(object)).toBe(
      [
        "a2: 2",
        "a10: 1",
        "apiVersion: v1",
        "big: 9007199254740993",
        "data:",
        "  colon: 'a: b'",
        '  control: "\\u0001"',
        '  empty: ""',
        "  file: |",
        "    a: 1",
        "    b: 2",
        "  no-end: |-",
        "    a",
        "    b",
        '  number: "1"',
        "  quote: 'it''s #1'",
        "  star: '*x'",
        "  tab: a\tb",
        '  trailing-space: "a \\nb"',
        "  two-ends: |+",
        "    a",
        "",
        '  "yes": "yes"',
        "kind: ConfigMap",
        "list:",
        "- a:",
        "  - 1",
        "  - - 2",
        "    - 3",
        "  b: 1",
        "- []",
        "- x",
        "- c:",
        "    d: null",
        "metadata:",
        '  creationTimestamp: "2026-01-02T03:04:05Z"',
        "  finalizers: []",
        "  labels: {}",
        "  name: x",
        "",
      ].join("\n"),
    );
  });

  test("written values read back the same", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^[-?:,[\]{}#&*!|>'"%@` a1_.~\n]{0,8}$/),
      fc.constantFrom(
        "yes",
        "1e3",
        "0x1",
        "<<",
        "2001-01-01",
        "1:30",
        "---",
        "- a",
        "null",
        "a\n",
        "\na",
        " a\nb",
        "a\n\n",
      ),
    );
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(text, tie("value"), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(value, (json) => {
        const written = stringifyYaml(json);

        // JSON text has no lone surrogates to compare.
        expect(read(written)).toEqual(JSON.parse(Buffer.from(JSON.stringify(json)).toString()));
      }),
      { numRuns: 500 },
    );
  });
});

describe("a long scalar", () => {
  const words = "word ".repeat(40).trim();

  test("breaks at the first space after column 80", () => {
    const text = stringifyYaml({ metadata: { note: words } });

    expect(text.split("\n").slice(1, 3)).toEqual([
      `  note: ${"word ".repeat(15).trim()}`,
      `    ${"word ".repeat(16).trim()}`,
    ]);
  });

  test.each([
    words,
    `${words}: ${words}`,
    ` ${words}`,
    `${words}\t${words}  ${words}\u0001`,
    "x".repeat(200),
  ])("%# is read as it was", (text) => {
    const written = stringifyYaml({ list: [{ text }, text], text });

    expect(parseYaml(Buffer.from(written)).value).toEqual({ list: [{ text }, text], text });
  });
});
