import { describe, expect, test } from "vitest";
import { HostPortTable } from "./host-ports.ts";

function port(ip: string, number = 80, protocol = "TCP") {
  return { ip, port: number, protocol };
}

describe("host ports of a node", () => {
  test.each([
    ["the same port on all addresses", port("0.0.0.0"), true],
    ["the same port on the same address", port("10.0.0.1"), true],
    ["the same port on another address", port("10.0.0.2"), false],
    ["another port", port("10.0.0.1", 81), false],
    ["another protocol", port("10.0.0.1", 80, "UDP"), false],
  ])("on one address conflicts with %s: %o, %s", (_, wanted, expected) => {
    const table = new HostPortTable();
    table.add([port("10.0.0.1")]);

    expect(table.conflictsWith([wanted])).toBe(expected);
  });

  test("on all addresses conflict with the same port on any address", () => {
    const table = new HostPortTable();
    table.add([port("0.0.0.0")]);

    expect(table.conflictsWith([port("10.0.0.1")])).toBe(true);
  });

  test("that were added twice are free after being removed twice", () => {
    const table = new HostPortTable();
    table.add([port("10.0.0.1"), port("10.0.0.1")]);
    table.remove([port("10.0.0.1")]);
    expect(table.conflictsWith([port("10.0.0.1")])).toBe(true);

    table.remove([port("10.0.0.1")]);
    expect(table.conflictsWith([port("10.0.0.1")])).toBe(false);
  });
});
