/** Priority and fairness as upstream's own suite tests it: over sockets, with impersonated users. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answered } from "./running-cluster.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1";
const SCHEMA_HEADER = "x-kubernetes-pf-flowschema-uid";
const LEVEL_HEADER = "x-kubernetes-pf-prioritylevel-uid";

interface Made {
  readonly schemaUid: string;
  readonly levelUid: string;
}

describe("priority and fairness", () => {
  const folder = new Folder();
  let cluster: RunningCluster;
  beforeAll(async () => {
    cluster = await RunningCluster.start(folder, { store: { type: "memory" } });
  });
  afterAll(async () => {
    await cluster.stop();
    folder.remove();
  });

  const askAs = (user: string, path: string): Promise<Answered> =>
    cluster.ask("GET", path, { headers: { "impersonate-user": user } });

  async function create(path: string, body: unknown): Promise<string> {
    const { code, body: made } = await cluster.ask("POST", FLOWS + path, { body });
    expect(code).toBe(201);
    return (made["metadata"]?.["uid"] ?? "") as string;
  }

  /** A priority level with one share, and a FlowSchema for these users. */
  async function limit(name: string, limitResponse: object, users: readonly string[]): Promise<Made> {
    const limited = { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse };
    const levelUid = await create("/prioritylevelconfigurations", {
      metadata: { name },
      spec: { type: "Limited", limited },
    });
    const subjects = users.map((user) => ({ kind: "User", user: { name: user } }));
    const schemaUid = await create("/flowschemas", {
      metadata: { name },
      spec: {
        matchingPrecedence: 1000,
        priorityLevelConfiguration: { name },
        distinguisherMethod: { type: "ByUser" },
        rules: [{ subjects, nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }] }],
      },
    });
    return { levelUid, schemaUid };
  }

  test("requests are classified by a FlowSchema and a PriorityLevelConfiguration that are added", async () => {
    const { levelUid, schemaUid } = await limit("classified", { type: "Reject" }, ["noxu"]);

    const meant = await askAs("noxu", "/version");
    const other = await askAs("foo", "/version");

    expect(meant.headers[SCHEMA_HEADER]).toBe(schemaUid);
    expect(meant.headers[LEVEL_HEADER]).toBe(levelUid);
    expect(other.headers[SCHEMA_HEADER]).toMatch(/^[0-9a-f-]{36}$/);
    expect(other.headers[LEVEL_HEADER]).not.toBe(levelUid);
  });

  test("a FlowSchema says that its level is there, and the metrics how many seats that has", async () => {
    await limit("steady", { type: "Reject" }, ["nobody"]);

    await expect
      .poll(async () => (await cluster.ask("GET", `${FLOWS}/flowschemas/steady`)).body["status"])
      .toMatchObject({ conditions: [{ type: "Dangling", status: "False", reason: "Found" }] });
    const { text } = await cluster.ask("GET", "/metrics");
    expect(text).toMatch(/apiserver_flowcontrol_nominal_limit_seats\{priority_level="steady"\} 3\b/);
  });

  test("a user who may not do a thing is told by which FlowSchema", async () => {
    const refused = await askAs("foo", "/api/v1/secrets");

    expect(refused.code).toBe(403);
    expect(refused.headers[SCHEMA_HEADER]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("one user of a level does not drown the other", async () => {
    const queuing = { queues: 16, handSize: 1, queueLengthLimit: 50 };
    await limit("shared", { type: "Queue", queuing }, ["highqps", "lowqps"]);
    let isOver = false;
    const load = async (): Promise<number> => {
      let answered = 0;
      while (!isOver) if ((await askAs("highqps", "/openapi/v2")).code < 500) answered += 1;
      return answered;
    };
    const high = Promise.all(Array.from({ length: 8 }, load));

    const codes: number[] = [];
    for (let n = 0; n < 6; n++) codes.push((await askAs("lowqps", "/version")).code);
    isOver = true;
    const answered = await high;

    expect(codes).toEqual(Array.from({ length: 6 }, () => 200));
    expect(Math.min(...answered)).toBeGreaterThan(0);
  });

  test("the state of levels, queues and requests can be looked at", async () => {
    const paths = ["dump_priority_levels", "dump_queues", "dump_requests"].map(
      (name) => `/debug/api_priority_and_fairness/${name}`,
    );
    const [levels, queues, requests] = await Promise.all(paths.map((path) => cluster.ask("GET", path)));

    expect(levels?.text).toMatch(/^PriorityLevelName, +ActiveQueues, +IsIdle, +IsQuiescing, /);
    expect(levels?.text).toMatch(/^exempt, +<none>,/m);
    expect(queues?.text.match(/^workload-high, /gm)).toHaveLength(128);
    expect(requests?.text).toMatch(/^PriorityLevelName, +FlowSchemaName, +QueueIndex, /);
  });
});

test("without priority and fairness no flow is named, and requests under way are still bounded", async () => {
  const folder = new Folder();
  await using cluster = await RunningCluster.start(folder, {
    store: { type: "memory" },
    fairness: { isOn: false, maxReadsInFlight: 400, maxWritesInFlight: 200 },
  });

  const version = await cluster.ask("GET", "/version");
  const dump = await cluster.ask("GET", "/debug/api_priority_and_fairness/dump_priority_levels");
  folder.remove();

  expect(version.code).toBe(200);
  expect(version.headers[SCHEMA_HEADER]).toBeUndefined();
  expect(dump.code).toBe(404);
});
