/** CVE-2020-8551: values that clients make up never become new labels of a metric, so that requests cannot fill the server's memory. */
import { expect, test } from "vitest";
import { TestApi } from "../../api-harness.ts";
import { made } from "./custom-kind.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

test("thousands of made-up requests add no series", async () => {
  await using api = await TestApi.start();
  const send = async (mark: string): Promise<void> => {
    const headers = {
      "user-agent": `agent-${mark}/1`,
      "impersonate-user": `user-${mark}`,
      "impersonate-group": `group-${mark}`,
      "impersonate-extra-key": mark,
    };
    const admin = { "user-agent": `agent-${mark}/1`, "x-forwarded-for": mark, "audit-id": mark, host: mark };
    const requests: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
      ["GET", `/api/v1/namespaces/${mark}/configmaps/${mark}`, admin],
      ["GET", MAPS, headers],
      [`VERB${mark}`, MAPS, admin],
      ["GET", `/apis/${mark}.example.com/v1/${mark}`, admin],
      ["GET", `/apis/apps/${mark}/deployments`, admin],
      ["GET", `/api/v1/${mark}`, admin],
      ["GET", `${MAPS}/a/${mark}`, admin],
      ["GET", `/api/v1/namespaces/default/pods/p/proxy/${mark}`, admin],
      ["GET", `/${mark}`, admin],
      ["GET", `${MAPS}?${mark}=${mark}&limit=${mark}&labelSelector=${mark}`, admin],
      ["POST", `${MAPS}?dryRun=${mark}&fieldManager=${mark}`, admin],
      ["PATCH", `${MAPS}/a`, { ...admin, "content-type": `application/${mark}` }],
      ["GET", `/livez/${mark}`, admin],
    ];
    for (const [method, target, given] of requests)
      await api.send(method, target, undefined, { headers: given });
    await api.send("POST", MAPS, { metadata: { name: mark, labels: { [mark]: mark } } }, { headers: admin });
    await made(api.send("DELETE", `${MAPS}/${mark}`, undefined, { headers: admin }));
  };
  const series = async (): Promise<readonly string[]> => {
    const { bytes } = await api.send("GET", "/metrics");
    const names = bytes
      .toString()
      .split("\n")
      .map((line) => line.split(" ")[0] ?? "");
    return [...new Set(names)].toSorted();
  };
  await send("first");
  await send("second");
  await series();
  const before = await series();

  for (let at = 0; at < 100; at++) await send(`mark${String(at)}`);
  const after = await series();

  expect(after.filter((one) => !before.includes(one))).toEqual([]);
  expect(after.filter((one) => one.includes("mark"))).toEqual([]);
});
