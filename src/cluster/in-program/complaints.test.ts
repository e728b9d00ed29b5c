import { expect, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import { Complaints } from "./complaints.ts";

test("the log keeps the latest warning of each of at most three subjects", () => {
  const complaints = new Complaints(silentLog);
  const log = complaints.log.with({ controller: "shop" });

  expect(String(complaints)).toBe("");
  log.info("all is well");
  log.warn("failed", { key: "a", error: new Error("first") });
  log.warn("failed", { key: "b" });
  log.warn("failed", { key: "a", error: new Error("second") });
  expect(String(complaints)).toBe(
    "failed (controller=shop, key=b); failed (controller=shop, key=a, error=second)",
  );

  for (const key of ["c", "d"]) log.error("broken", { key });
  expect(String(complaints)).toBe(
    "failed (controller=shop, key=a, error=second); broken (controller=shop, key=c); broken (controller=shop, key=d)",
  );
});

test("values without a JSON form are kept as text, without an error", () => {
  const complaints = new Complaints(silentLog);
  const own: Record<string, unknown> = { name: "a" };
  own["self"] = own;

  complaints.log.warn("failed", { generation: 9007199254740993n, own });

  expect(String(complaints)).toBe(
    "failed (generation=9007199254740993n, own=<ref *1> { name: 'a', self: [Circular *1] })",
  );
});
