import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JSON_DEPTH_MAX, JSON_TOKENS_MAX, parseJson } from "./json-scan.ts";
import { stringifyJson } from "./json-text.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const value = (text: string): unknown => parseJson(bytes(text)).value;

describe("parseJson", () => {
  test("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (json, indent) => {
        const text = JSON.stringify(json, undefined, indent);

        expect(stringifyJson(value(text))).toBe(JSON.stringify(JSON.parse(text)));
        expect(parseJson(bytes(text)).duplicates).toEqual([]);
      }),
    );
  });

  test("replaces lone surrogates and keeps surrogate pairs", () => {
    expect(value(String.raw`{"a":"x\ud800y","\udc00":["\ud83d\ude00"],"b":"\\ud800"}`)).toEqual({
      a: "x\u{fffd}y",
      "\u{fffd}": ["\u{1f600}"],
      b: String.raw`\ud800`,
    });
  });

  test("keeps every int64 exact", () => {
    expect(value('{"a":[9007199254740993,-9223372036854775808,9223372036854775807]}')).toEqual({
      a: [9007199254740993n, -(2n ** 63n), 2n ** 63n - 1n],
    });
    expect(value("9007199254740991")).toBe(9007199254740991);
    expect(value("18446744073709551616")).toBe(18446744073709551616);
    expect(value('{"a":"9007199254740993","b":1.5e3,"c":0.1234567890123456789}')).toEqual({
      a: "9007199254740993",
      b: 1500,
      c: 0.12345678901234568,
    });
  });

  test("the exact reader reads other values as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("", " ", "\n\t"), (json, blank) => {
        const text = `[9007199254740993${blank},${blank}${JSON.stringify(json, undefined, blank)}${blank}]`;

        expect(stringifyJson(value(text))).toBe(`[9007199254740993,${JSON.stringify(json)}]`);
      }),
    );
  });

  test("reports the paths of duplicate keys, and the last value wins", () => {
    const text = '{"spec":{"y":1,"\\u0079":2,"list":[{"a":1},{"a":1,"a":{"b":1,"b":2}}]},"spec2":1}';

    expect(parseJson(bytes(text))).toEqual({
      value: { spec: { y: 2, list: [{ a: 1 }, { a: { b: 2 } }] }, spec2: 1 },
      duplicates: ["spec.y", "spec.list[1].a", "spec.list[1].a.b"],
    });
  });

  test("finds a duplicate key at any position", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (object, seed) => {
        const keys = Object.keys(object);
        const key = keys[seed % keys.length] ?? "";
        const text = `{${JSON.stringify(key)}:0,${JSON.stringify(object).slice(1)}`;

        expect(stringifyJson(value(text))).toBe(JSON.stringify(JSON.parse(text)));
        expect(parseJson(bytes(text)).duplicates).toEqual([key]);
      }),
    );
  });

  test("finds a duplicate key in every spelling", () => {
    for (const [one, other] of [
      ["a/b", "a\\/b"],
      ["y", "\\u0079"],
      ['\\"', "\\u0022"],
      ["\\n", "\\u000a"],
      ["é", "\\u00e9"],
    ] as const) {
      expect(parseJson(bytes(`{"${one}":1,"${other}":2}`)).duplicates).toHaveLength(1);
      expect(parseJson(bytes(`{"${other}":1,"x":{"${one}":2}}`)).duplicates).toEqual([]);
    }
    expect(parseJson(bytes('{"k:{\\"a\\"}":1,"k:{\\"a\\"}":2}')).duplicates).toEqual(['k:{"a"}']);
  });

  test("lists at most a hundred duplicates", () => {
    const text = `{${Array.from({ length: 200 }, (_, i) => `"k${i}":1,"k${i}":2`).join(",")}}`;

    expect(parseJson(bytes(text)).duplicates).toHaveLength(100);
  });

  test("__proto__ and constructor are ordinary keys", () => {
    for (const text of ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":{"x":9007199254740993}}']) {
      const object = value(text) as object;

      expect(Object.hasOwn(object, "__proto__")).toBe(true);
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
      expect("x" in object).toBe(false);
    }
  });

  test.each([
    "",
    "{",
    "[1,]",
    "{'a':1}",
    "nul",
    '{"a" 1}',
    "\u{feff}{}",
    "01",
    "tru e",
    '"\n"',
    "[1 2]",
    "}",
  ])("refuses %j", (text) => {
    expect(() => parseJson(bytes(text))).toThrow(SyntaxError);
  });

  test("refuses invalid UTF-8 and numbers beyond the doubles", () => {
    expect(() => parseJson(Uint8Array.from([0x22, 0xff, 0x22]))).toThrow("invalid UTF-8 in JSON");
    expect(() => parseJson(bytes('{"a":1e400}'))).toThrow(
      "json: cannot unmarshal number into Go value of type float64",
    );
    expect(() => parseJson(bytes(`-${"9".repeat(1000)}`))).toThrow(SyntaxError);
  });

  test("reads text beyond ASCII, and a slice of a larger buffer", () => {
    const larger = Buffer.from('xx{"é":"日本 😀"}xx');

    expect(parseJson(larger.subarray(2, larger.length - 2)).value).toEqual({ é: "日本 😀" });
  });

  test("depth is bounded", () => {
    const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

    expect(() => value(nested(JSON_DEPTH_MAX))).not.toThrow();
    expect(() => value(nested(JSON_DEPTH_MAX + 1))).toThrow(RangeError);
    expect(() => value(`"${nested(1000)}"`)).not.toThrow();
  });

  test("tokens are bounded", () => {
    expect(() => value(`[${"1,".repeat(JSON_TOKENS_MAX - 10)}1]`)).not.toThrow();
    expect(() => value(`[${"1,".repeat(JSON_TOKENS_MAX)}1]`)).toThrow(RangeError);
  });

  const SIZE = 3 * 2 ** 20;
  test.each([
    ["open brackets", "[".repeat(SIZE)],
    ["empty arrays", `[${"[],".repeat(SIZE / 3)}[]]`],
    ["open objects", '{"a":'.repeat(SIZE / 5)],
    ["quotes", '"'.repeat(SIZE)],
    ["backslashes", `"${"\\".repeat(SIZE)}`],
    ["escapes", `"${"\\u0000".repeat(SIZE / 6)}"`],
    ["escapes after a big number", `[9007199254740993,"${"\\n".repeat(SIZE / 2)}"]`],
    ["one long string after a big number", `[9007199254740993,"${"x".repeat(SIZE)}"]`],
    ["one long number", "1".repeat(SIZE)],
    ["one long exponent", `1e${"1".repeat(SIZE)}`],
    ["big numbers", `[${"9007199254740993,".repeat(SIZE / 17)}1]`],
    ["as many big numbers as are allowed", `[${"9007199254740993,".repeat(39_000)}1]`],
    ["blanks", `[9007199254740993,${" ".repeat(SIZE)}1]`],
    ["duplicates", `{${'"a":1,'.repeat(66_000)}"a":1}`],
    [
      "distinct keys and a duplicate",
      `{${Array.from({ length: 99_000 }, (_, i) => `"${i}-${"x".repeat(20)}":1`).join(",")},"a":1,"a":2}`,
    ],
    ["duplicates of every level", `${'{"a":1,"a":'.repeat(400)}1${"}".repeat(400)}`],
    ["a truncated string", `{"a":"${"x".repeat(SIZE)}`],
  ])("3 MiB of %s take bounded time", (_name, text) => {
    const input = bytes(text);
    const before = process.cpuUsage();
    try {
      parseJson(input);
    } catch (error) {
      expect(error instanceof SyntaxError || error instanceof RangeError).toBe(true);
    }
    const spent = process.cpuUsage(before);

    // Takes less than 100 ms on an idle machine; the bound allows for tests in parallel.
    expect(spent.user / 1000).toBeLessThan(400);
  });
});

describe("stringifyJson", () => {
  test("writes what JSON.stringify writes when there is no bigint", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(stringifyJson(json)).toBe(JSON.stringify(json));
      }),
    );
  });

  test("writes bigints exactly and other values as JSON.stringify does", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.bigInt(), (json, big) => {
        const text = JSON.stringify(json);

        expect(stringifyJson({ b: big, skip: undefined, list: [undefined, json] })).toBe(
          `{"b":${big},"list":[null,${text}]}`,
        );
      }),
    );
  });

  test("int64 survives reading and writing", () => {
    const text = '{"__proto__":{"a":9223372036854775807},"b":[-9007199254740993,1.5]}';

    expect(stringifyJson(value(text))).toBe(text);
  });

  test("a cycle fails an assertion instead of looping", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;

    expect(() => stringifyJson(cycle)).toThrow("cycle");
  });
});

describe("parseJson with a member reader", () => {
  const blank = fc.constantFrom("", " ", "\n\t");
  const key = fc.oneof(fc.constantFrom("spec", "specs", "a"), fc.string());

  test("returns the same value as without a reader", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.jsonValue(), blank)), (members) => {
        const texts = members.map(
          ([name, json, space]) => `${JSON.stringify(name)}:${space}${JSON.stringify(json)}${space}`,
        );
        const text = `{${texts.join(",")}}`;
        const member = { name: "spec", read: (found: string): unknown => JSON.parse(found) };

        expect(parseJson(bytes(text), member)).toEqual(parseJson(bytes(text)));
      }),
    );
  });

  test("takes the member's value from the reader", () => {
    const read: string[] = [];
    const member = {
      name: "spec",
      read: (found: string): unknown => {
        read.push(found);
        return "known";
      },
    };

    const { value: whole } = parseJson(bytes('{"a":{"spec":1},"spec": {"b":[2,"}"]} ,"c":3}'), member);

    expect(read).toEqual([' {"b":[2,"}"]} ']);
    expect(whole).toEqual({ a: { spec: 1 }, spec: "known", c: 3 });
    expect(Object.keys(whole as object)).toEqual(["a", "spec", "c"]);
  });

  test.each([
    '{"spec":{]}',
    '{"spec":{"a":1}',
    '{"spec":1}}',
    '{"spec":1 2}',
    '{"spec":}',
    '["spec":1]',
    '{"a" "spec":1}',
    '{"spec":[1,}',
  ])("%s is refused with the same message as without a reader", (text) => {
    const member = { name: "spec", read: (found: string): unknown => JSON.parse(found) };

    const told = (parse: () => unknown): unknown => {
      try {
        return parse();
      } catch (error) {
        return String(error);
      }
    };
    const without = told(() => parseJson(bytes(text)));
    expect(without).toMatch(/SyntaxError/);
    expect(told(() => parseJson(bytes(text), member))).toBe(without);
  });
});
