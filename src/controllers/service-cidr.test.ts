import { describe, expect, test } from "vitest";
import type { IPAddress, ServiceCIDR } from "../api/generated/types/networking-v1.ts";
import { incomplete } from "../api/object-fixture.ts";
import { isNeeded } from "./service-cidr.ts";

const TIME = "2026-01-01T00:00:00Z";

describe("a deleted ServiceCIDR is needed", () => {
  const leaving = range("leaving", ["10.0.1.0/24"], TIME);

  test.each([
    { when: "while an address of it is in use", others: [], address: "10.0.1.5", expected: true },
    { when: "not for addresses of other ranges", others: [], address: "10.0.2.5", expected: false },
    {
      when: "not when another range contains it",
      others: [range("wide", ["10.0.0.0/16"])],
      address: "10.0.1.5",
      expected: false,
    },
    {
      when: "not for addresses that another range contains too",
      others: [range("part", ["10.0.1.0/28"])],
      address: "10.0.1.5",
      expected: false,
    },
    {
      when: "when the other range is being deleted too",
      others: [range("wide", ["10.0.0.0/16"], TIME)],
      address: "10.0.1.5",
      expected: true,
    },
  ])("$when", ({ others, address: name, expected }) => {
    const labels = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" };
    const address = incomplete<IPAddress>({ metadata: { name, labels } });

    expect(isNeeded(leaving, [leaving, ...others], [address])).toBe(expected);
  });

  test("not by addresses that no server allocated", () => {
    const address = { metadata: { name: "10.0.1.5" } } as IPAddress;

    expect(isNeeded(leaving, [leaving], [address])).toBe(false);
  });
});

function range(name: string, cidrs: readonly string[], deletionTimestamp?: string): ServiceCIDR {
  return { metadata: { name, deletionTimestamp }, spec: { cidrs } } as ServiceCIDR;
}
