/** The math extension. */
import { CelEvaluationError } from "../cel-error.ts";
import { compareValues } from "../equality.ts";
import { itemsOf } from "../json-value.ts";
import type { Apply, Library } from "../overload.ts";
import { type CelList, type CelValue, Uint } from "../value.ts";
import { checkedInt } from "./arithmetic.ts";

const NUMBERS = ["int", "uint", "double"];

function chosen(sign: 1 | -1): Apply {
  return ([left, right]) => ((compareValues(right, left) ?? 0) * sign > 0 ? right : left);
}

function chosenOf(name: string, sign: 1 | -1): Apply {
  return ([list], run) => {
    run.charge((list as CelList).size);
    const [first, ...others] = itemsOf(list as CelList);
    if (first === undefined) throw new CelEvaluationError(`${name}(list) argument must not be empty`);
    let found = first;
    for (const item of others) if ((compareValues(item, found) ?? 0) * sign > 0) found = item;
    return found;
  };
}

/** Of all pairs of numbers; a pair of two types gives either. */
function choices(name: string, sign: 1 | -1): Library {
  const pairs = NUMBERS.flatMap((left) =>
    NUMBERS.map((right): Library[number] => [
      `${name}(${left}, ${right}): ${left === right ? left : "dyn"}`,
      chosen(sign),
    ]),
  );
  const single = NUMBERS.map((type): Library[number] => [`${name}(${type}): ${type}`, ([value]) => value]);
  const lists = NUMBERS.map((type): Library[number] => [
    `${name}(list<${type}>): ${type}`,
    chosenOf(name, sign),
  ]);
  return [...single, ...pairs, ...lists];
}

function doubles(name: string, operate: (value: number) => CelValue): Library[number] {
  return [
    `math.${name}(double): ${name.startsWith("is") ? "bool" : "double"}`,
    ([value]) => operate(value as number),
  ];
}

/** Halves go away from zero. */
function rounded(value: number): number {
  if (!Number.isFinite(value)) return value;
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

type Bits = (left: bigint, right: bigint) => bigint;

function bits(name: string, operate: Bits): Library {
  return [
    [`math.${name}(int, int): int`, ([left, right]) => operate(left as bigint, right as bigint)],
    [
      `math.${name}(uint, uint): uint`,
      ([left, right]) => new Uint(operate((left as Uint).value, (right as Uint).value)),
    ],
  ];
}

/** Bits that leave the 64 are gone; a shift of 64 or more leaves none. */
function shifted(by: CelValue, operate: (by: bigint) => bigint): bigint {
  const count = by as bigint;
  if (count < 0n) throw new CelEvaluationError(`math.bitShift() negative offset: ${count}`);
  return count >= 64n ? 0n : operate(count);
}

function magnitude(value: bigint): bigint {
  return checkedInt(value < 0n ? -value : value);
}

export const MATH: Library = [
  ...choices("math.greatest", 1),
  ...choices("math.least", -1),
  doubles("ceil", Math.ceil),
  doubles("floor", Math.floor),
  doubles("round", rounded),
  doubles("trunc", Math.trunc),
  doubles("isInf", (value) => !Number.isFinite(value) && !Number.isNaN(value)),
  doubles("isNaN", Number.isNaN),
  doubles("isFinite", Number.isFinite),
  ["math.abs(int): int", ([value]) => magnitude(value as bigint)],
  ["math.abs(uint): uint", ([value]) => value],
  ["math.abs(double): double", ([value]) => Math.abs(value as number)],
  ["math.sign(int): int", ([value]) => BigInt(Math.sign(Number(value as bigint)))],
  ["math.sign(uint): uint", ([value]) => new Uint((value as Uint).value === 0n ? 0n : 1n)],
  ["math.sign(double): double", ([value]) => Math.sign(value as number)],
  ["math.sqrt(double): double", ([value]) => Math.sqrt(value as number)],
  ["math.sqrt(int): double", ([value]) => Math.sqrt(Number(value as bigint))],
  ["math.sqrt(uint): double", ([value]) => Math.sqrt(Number((value as Uint).value))],
  ...bits("bitAnd", (left, right) => left & right),
  ...bits("bitOr", (left, right) => left | right),
  ...bits("bitXor", (left, right) => left ^ right),
  ["math.bitNot(int): int", ([value]) => ~(value as bigint)],
  ["math.bitNot(uint): uint", ([value]) => new Uint(BigInt.asUintN(64, ~(value as Uint).value))],
  [
    "math.bitShiftLeft(int, int): int",
    ([value, by]) => shifted(by, (count) => BigInt.asIntN(64, (value as bigint) << count)),
  ],
  [
    "math.bitShiftLeft(uint, int): uint",
    ([value, by]) => new Uint(shifted(by, (count) => BigInt.asUintN(64, (value as Uint).value << count))),
  ],
  [
    "math.bitShiftRight(int, int): int",
    ([value, by]) => shifted(by, (count) => BigInt.asIntN(64, BigInt.asUintN(64, value as bigint) >> count)),
  ],
  [
    "math.bitShiftRight(uint, int): uint",
    ([value, by]) => new Uint(shifted(by, (count) => (value as Uint).value >> count)),
  ],
];
