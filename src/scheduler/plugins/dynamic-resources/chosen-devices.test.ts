import { expect, test } from "vitest";
import { incomplete } from "../../../api/object-fixture.ts";
import { type Choice, ChosenDevices } from "./chosen-devices.ts";
import type { PoolDevice } from "./device-pools.ts";

function device(name: string): PoolDevice {
  const consumesCounters = [{ counterSet: "card", counters: { memory: { value: "2" } } }];
  return incomplete<PoolDevice>({
    driver: "d",
    pool: "p",
    key: `d/p/${name}`,
    device: { name, consumesCounters },
  });
}

const choice = (of: PoolDevice): Choice => ({ ...CHOICE, device: of });
const CHOICE = { claimIndex: 0, alternative: incomplete<Choice["alternative"]>({}), consumed: new Map() };
const MEMORY = "d/p/card/memory";
const UNIT = 1_000_000_000n;

test("a device's counters count once, until its last choice is removed", () => {
  const chosen = new ChosenDevices();
  const [one, other] = [device("a"), device("b")];
  const sums: bigint[] = [];
  const note = (): unknown => sums.push(chosen.counterOf(MEMORY) / UNIT);

  for (const each of [one, one, other]) {
    chosen.add(choice(each));
    note();
  }
  expect(chosen.of(one)).toHaveLength(2);
  for (let left = 3; left > 0; left--) {
    chosen.removeLast(0);
    note();
  }

  expect(sums).toEqual([2n, 2n, 4n, 2n, 2n, 0n]);
  expect(chosen.of(one)).toEqual([]);
});

test("removeLast keeps the given number of choices", () => {
  const chosen = new ChosenDevices();
  chosen.add(choice(device("a")));

  expect(chosen.removeLast(1)).toBeUndefined();
  expect(chosen.all).toHaveLength(1);
});
