import { expect, test } from "vitest";
import type { Service } from "../../api/generated/types/core-v1.ts";
import { familiesOf } from "./service-pods.ts";

test.each<readonly [string, Service["spec"], readonly string[]]>([
  ["lists them", { clusterIP: "10.0.0.1", ipFamilies: ["IPv6", "IPv4"] }, ["IPv6", "IPv4"]],
  ["has an IPv6 address", { clusterIP: "fd00::1" }, ["IPv6"]],
  ["has an IPv4 address", { clusterIP: "10.0.0.1" }, ["IPv4"]],
  ["is headless", { clusterIP: "None" }, ["IPv4", "IPv6"]],
  ["has no address", {}, ["IPv4"]],
])("the families of a Service that %s", (_, spec, families) => {
  expect(familiesOf({ spec } as Service)).toEqual(families);
});
