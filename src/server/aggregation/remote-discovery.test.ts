import { expect, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import { RemoteApis } from "./remote-apis.ts";
import { RemoteDiscovery } from "./remote-discovery.ts";

test("discovery shows the resources of two hundred extension APIs, and of the next one after a removal", () => {
  const store = openMemoryStore({ loop: createRealLoop({ name: "test" }) });
  const discovery = new RemoteDiscovery(new RemoteApis(store, []));
  const heard = { resources: [{ resource: "flunders" }], schemas: new Map() };
  const names = Array.from({ length: 202 }, (_, at) => `v${String(at)}.example.com`);

  const shown = names.map((name) => discovery.hear(name, heard));

  expect(shown.slice(0, 200).every((one) => one === heard)).toBe(true);
  expect(shown.slice(200)).toMatchObject(
    [200, 201].map(() => ({ resources: [], cut: expect.any(String) as string })),
  );
  expect(discovery.hear("v7.example.com", heard)).toBe(heard);
  discovery.forget("v7.example.com");
  expect(discovery.hear("v201.example.com", heard)).toBe(heard);
  expect(discovery.hear("v200.example.com", heard)).not.toBe(heard);
});
