import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { NO_POD_NETWORK } from "../../resources/node/pod-network.ts";
import { findCgroups } from "./cgroup-hierarchies.ts";
import type { Isolation } from "./isolation.ts";
import { choosePodCidr, machineName, machineSetup } from "./machine-setup.ts";

describe("the node of a machine", () => {
  test.each([
    ["web-1.example.org", "web-1.example.org"],
    ["Anna's MacBook_Pro.local", "anna-s-macbook-pro.local"],
    ["-", "machine"],
  ])("for host %j is %j", (host, name) => {
    expect(machineName(host)).toBe(name);
  });

  const SHARED = { type: "shared", reason: "the kernel has no namespaces" } as const;
  test.each<[Isolation, string, Readonly<Record<string, string>>]>([
    [{ type: "namespaces", owner: "root" }, "NamespacesPermitted", {}],
    [{ type: "namespaces", owner: "user" }, "UserNamespacesPermitted", NO_POD_NETWORK],
    [SHARED, "SharedNetwork", NO_POD_NETWORK],
  ])("with %j says %s, and whether the addresses of pods answer", (isolation, reason, annotations) => {
    const setup = machineSetup({ dataDir: tmpdir(), isolation, podCidrs: [], egress: false });

    expect(setup.conditions?.find(({ type }) => type === "ProcessNamespaces")?.reason).toBe(reason);
    expect(setup.annotations).toEqual(annotations);
  });

  test.each([
    [false, "they reach no other networks: start with --pod-egress"],
    [true, "they reach other networks"],
  ])("with a way to other networks (%j) says so", (egress, words) => {
    const isolation = { type: "namespaces", owner: "root" } as const;

    const { conditions } = machineSetup({ dataDir: tmpdir(), isolation, podCidrs: [], egress });

    expect(conditions?.find(({ type }) => type === "ProcessNamespaces")?.message).toMatch(
      new RegExp(`; ${words}$`),
    );
  });

  test("says whether limits are enforced", () => {
    const { conditions } = machineSetup({
      dataDir: tmpdir(),
      isolation: SHARED,
      podCidrs: [],
      egress: false,
    });

    const limits = conditions?.find(({ type }) => type === "ProcessLimits");
    const isEnforced = findCgroups() !== undefined;
    expect(limits?.status).toBe(isEnforced ? "True" : "False");
    expect(limits?.message.includes("not enforced")).toBe(!isEnforced);
  });
});

describe("the block of pod addresses", () => {
  const RANGE = ["10.128.0.0/9"];

  test("differs by data dir and stays the same for one", () => {
    const one = choosePodCidr("/data/one", RANGE, []);

    expect(one).toMatch(/^10\.(?:19[2-9]|2\d\d)\.\d+\.0\/24$/);
    expect(choosePodCidr("/data/one", RANGE, [])).toBe(one);
    expect(choosePodCidr("/data/two", RANGE, [])).not.toBe(one);
  });

  test("is another one if the machine has a route to it", () => {
    const one = choosePodCidr("/data/one", RANGE, []) ?? "";

    expect(choosePodCidr("/data/one", RANGE, [one])).not.toBe(one);
    expect(choosePodCidr("/data/one", RANGE, ["10.0.0.0/8"])).toBeUndefined();
  });

  test.each([[["10.1.2.0/24"]], [["fd00::/48"]], [["10.128.0.0/9", "fd00::/48"]], [[]]])(
    "is left to the controller for %j",
    (ranges) => {
      expect(choosePodCidr("/data/one", ranges, [])).toBeUndefined();
    },
  );
});
