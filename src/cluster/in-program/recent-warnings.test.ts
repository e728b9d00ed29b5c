import { expect, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import { RecentWarnings } from "./recent-warnings.ts";

test("the log keeps the latest warning of each of at most three subjects", () => {
  const warnings = new RecentWarnings(silentLog);
  const log = warnings.log.with({ controller: "shop" });

  expect(String(warnings)).toBe("");
  log.info("all is well");
  log.warn("failed", { key: "a", error: new Error("first") });
  log.warn("failed", { key: "b" });
  log.warn("failed", { key: "a", error: new Error("second") });
  expect(String(warnings)).toBe(
    "failed (controller=shop, key=b); failed (controller=shop, key=a, error=second)",
  );

  for (const key of ["c", "d"]) log.error("broken", { key });
  expect(String(warnings)).toBe(
    "failed (controller=shop, key=a, error=second); broken (controller=shop, key=c); broken (controller=shop, key=d)",
  );
});

test("values without a JSON form are kept as text, without an error", () => {
  const warnings = new RecentWarnings(silentLog);
  const own: Record<string, unknown> = { name: "a" };
  own["self"] = own;

  warnings.log.warn("failed", { generation: 9007199254740993n, own });

  expect(String(warnings)).toBe(
    "failed (generation=9007199254740993n, own=<ref *1> { name: 'a', self: [Circular *1] })",
  );
});
