import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityToNumber,
  quantityValue,
  subtractQuantities,
} from "./quantity.ts";

const FORMAT_WRONG =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const suffix = fc.constantFrom(
  "n",
  "u",
  "m",
  "",
  "k",
  "M",
  "G",
  "T",
  "P",
  "E",
  "Ki",
  "Mi",
  "Gi",
  "Ti",
  "Pi",
  "Ei",
  "e3",
  "E-2",
  "e+5",
);
const quantityText = fc
  .tuple(
    fc.constantFrom("", "-", "+"),
    fc.nat(),
    fc.option(fc.stringMatching(/^[0-9]{0,12}$/), { nil: undefined }),
    suffix,
  )
  .map(
    ([sign, whole, fraction, end]) => `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${end}`,
  );

describe("canonicalQuantity", () => {
  test.each([
    ["0", "0"],
    ["0.0", "0"],
    ["-0", "0"],
    ["0Ki", "0"],
    ["0.5", "500m"],
    ["1.5", "1500m"],
    ["1.500", "1500m"],
    ["1.2345", "1234500u"],
    ["100m", "100m"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["1000Mi", "1000Mi"],
    ["1024", "1024"],
    ["1000", "1k"],
    ["1000000", "1M"],
    ["1234000", "1234k"],
    ["0.5Ki", "512"],
    ["0.0001Ki", "102400u"],
    ["1.1Ki", "1126400m"],
    ["+1", "1"],
    ["-1.5Gi", "-1536Mi"],
    ["12e6", "12e6"],
    ["1e3", "1e3"],
    ["1E3", "1e3"],
    ["1e4", "10e3"],
    ["1e-3", "1e-3"],
    ["100e-1", "10"],
    ["1.", "1"],
    [".5", "500m"],
    ["1.G", "1G"],
    ["007", "7"],
    ["0.9n", "1n"],
    ["-0.1n", "-1n"],
    ["1e-1000", "1e-9"],
    ["8Ei", "9223372036854775807"],
    ["-9Ei", "-9223372036854775807"],
    ["7Ei", "7Ei"],
    ["18446744073709551616", "18446744073709551616"],
    ["1000E", "1e21"],
    ["1000P", "1E"],
    [" 1Gi ", "1Gi"],
    ["1000Ti", "1000Ti"],
    ["999999Ti", "999999Ti"],
  ])("writes %s as %s", (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  test.each(["", "x", "1.1.M", "1+1.0M", "0.1mx", "aoeu", "1 000", "0x10", "1,5", "१"])(
    "refuses %j",
    (text) => {
      expect(() => canonicalQuantity(text)).toThrow(new SyntaxError(FORMAT_WRONG));
    },
  );

  test.each([".5i", "1i", "-3.01i", "-3.01e-", "0.1mi", "1e", "1Zi", "1mm", "1KiK"])(
    "refuses the suffix of %j",
    (text) => {
      expect(() => canonicalQuantity(text)).toThrow(/suffix|regular expression/);
    },
  );

  test.each([
    "1e1000000000",
    "9".repeat(3_000_000),
    `${"9".repeat(3_000_000)}x`,
    `0.${"0".repeat(3_000_000)}1`,
  ])("handles extreme input without delay (%#)", (text) => {
    const before = process.cpuUsage();
    try {
      canonicalQuantity(text);
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
    }
    const spent = process.cpuUsage(before);

    expect(spent.user + spent.system).toBeLessThan(100_000);
  });

  test("is idempotent, and keeps the value", () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const canonical = canonicalQuantity(text);

        expect(canonicalQuantity(canonical)).toBe(canonical);
        expect(compareQuantities(parseQuantity(canonical), parseQuantity(text))).toBe(0);
        expect(canonical).toBe(formatQuantity(parseQuantity(text)));
      }),
    );
  });
});

describe("quantity arithmetic", () => {
  test("compares across formats", () => {
    expect(compareQuantities(parseQuantity("1Gi"), parseQuantity("1G"))).toBe(1);
    expect(compareQuantities(parseQuantity("1024Mi"), parseQuantity("1073741824"))).toBe(0);
    expect(compareQuantities(parseQuantity("-1"), parseQuantity("1n"))).toBe(-1);
  });

  test("a sum takes the format of its left side, or of the right if the left is zero", () => {
    expect(formatQuantity(addQuantities(parseQuantity("1Gi"), parseQuantity("1024M")))).toBe("2048576Ki");
    expect(formatQuantity(addQuantities(parseQuantity("0"), parseQuantity("1Gi")))).toBe("1Gi");
    expect(formatQuantity(subtractQuantities(parseQuantity("2Gi"), parseQuantity("1Gi")))).toBe("1Gi");
    expect(formatQuantity(subtractQuantities(parseQuantity("100m"), parseQuantity("1")))).toBe("-900m");
  });

  test("binary sums beyond the largest suffix keep their value", () => {
    const sixteen = addQuantities(
      addQuantities(parseQuantity("7Ei"), parseQuantity("7Ei")),
      parseQuantity("2Ei"),
    );

    expect(formatQuantity(sixteen)).toBe("16Ei");
    expect(formatQuantity({ nano: sixteen.nano * 1024n, format: "BinarySI" })).toBe("16384Ei");
  });

  test("adding and subtracting a quantity gives the original value", () => {
    fc.assert(
      fc.property(quantityText, quantityText, (left, right) => {
        const a = parseQuantity(left);
        const b = parseQuantity(right);

        expect(subtractQuantities(addQuantities(a, b), b).nano).toBe(a.nano);
        expect(addQuantities(a, b).nano).toBe(addQuantities(b, a).nano);
      }),
    );
  });

  test("conversions round away from zero", () => {
    expect(quantityValue(parseQuantity("1500m"))).toBe(2n);
    expect(quantityValue(parseQuantity("-1500m"))).toBe(-2n);
    expect(quantityMilliValue(parseQuantity("1u"))).toBe(1n);
    expect(quantityMilliValue(parseQuantity("0.25"))).toBe(250n);
    expect(quantityToNumber(parseQuantity("1500m"))).toBe(1.5);
    expect(quantityToNumber(parseQuantity("1Gi"))).toBe(2 ** 30);
  });
});
