import { describe, expect, test } from "vitest";
import { CelCompileError } from "../../api/cel/cel-error.ts";
import type { CelValue } from "../../api/cel/value.ts";
import type { Device } from "../../api/generated/types/resource-v1.ts";
import { compileSelector } from "./device-selector.ts";
import { deviceValue } from "./device-value.ts";

const DEVICE: Device = {
  name: "gpu-0",
  attributes: {
    model: { string: "a100" },
    index: { int: 3 },
    healthy: { bool: true },
    version: { version: "1.2.3" },
    "other.example.com/speed": { int: 7 },
  },
  capacity: { memory: { value: "40Gi" } },
};

function evaluate(expression: string, device: Device = DEVICE): CelValue {
  const program = compileSelector(expression);
  if (program instanceof CelCompileError) throw program;
  return program.evaluate({ device: deviceValue("dra.example.com", device) }, { budget: 1_000_000 });
}

describe("the device in a selector expression", () => {
  test.each([
    ['device.driver == "dra.example.com"', true],
    ['device.attributes["dra.example.com"].model == "a100"', true],
    ['device.attributes["dra.example.com"].index > 2', true],
    ['device.attributes["dra.example.com"].healthy', true],
    ['device.attributes["dra.example.com"].version.isGreaterThan(semver("1.2.0"))', true],
    ['device.attributes["other.example.com"].speed == 7', true],
    ['device.capacity["dra.example.com"].memory.compareTo(quantity("40Gi")) == 0', true],
    ['device.capacity["dra.example.com"].memory.isLessThan(quantity("80Gi"))', true],
    ['"dra.example.com" in device.attributes', true],
    ['"nobody.example.com" in device.attributes', false],
    ['has(device.attributes["nobody.example.com"].model)', false],
    ['device.attributes["nobody.example.com"].?model.orValue("x") == "x"', true],
    ["device.allowMultipleAllocations", false],
  ])("%s is %s", (expression, value) => {
    expect(evaluate(expression)).toBe(value);
  });

  test("throws for an attribute that the device lacks", () => {
    expect(() => evaluate('device.attributes["dra.example.com"].color == "red"')).toThrow(
      "no such key: color",
    );
  });
});
