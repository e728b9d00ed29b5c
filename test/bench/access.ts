/**
 * Cost of roles: the same requests as a user with all rights and as a user with a role in one of many namespaces. They go straight to the
 * handler of a server with the memory engine, in alternation, so that both meet the same machine; the figure is CPU time.
 */
import { TestApi, wholeBody } from "../api-harness.ts";
import { podText } from "./api-cluster.ts";
import { verdict } from "./row.ts";
import type { Bench, Row } from "./row.ts";

const BINDINGS = 1000;
const NAMESPACES = 100;
const PODS = 500;
const ROUNDS = 15;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const PATH = "/api/v1/namespaces/default/pods";

const ADMIN = { user: "admin", groups: ["system:masters"] };
const BOB = { user: "bob", groups: ["dev"] };
const NEVER = new AbortController().signal;

async function fill(api: TestApi): Promise<void> {
  const template = podText("NAME");
  for (let n = 0; n < PODS; n++)
    await make(api, PATH, JSON.parse(template.replace("NAME", `pod-${String(n)}`)));
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] }];
  await make(api, `${RBAC}/clusterroles`, { metadata: { name: "reader" }, rules });
  for (let n = 0; n < BINDINGS; n++) {
    const namespace = n % NAMESPACES === 0 ? "default" : `ns-${String(n % NAMESPACES)}`;
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" };
    const subjects = ["bob", `user-${String(n)}`].map((name) => ({ kind: "User", name }));
    const path = `${RBAC}/namespaces/${namespace}/rolebindings`;
    await make(api, path, { metadata: { name: `b-${String(n)}` }, roleRef, subjects });
  }
}

async function make(api: TestApi, path: string, body: unknown): Promise<void> {
  const { code } = await api.send("POST", path, body);
  if (code !== 201) throw new Error(`POST ${path} answered ${String(code)}`);
}

async function read(api: TestApi, target: string, peer: typeof BOB): Promise<void> {
  const response = await api.handler({
    method: "GET",
    target,
    headers: new Map([["accept", "application/json"]]),
    peer,
    signal: NEVER,
    readBody: () => Promise.resolve(new Uint8Array(0)),
  });
  // A request holds its share of the server until its response is read.
  await wholeBody(response);
  const { status } = response;
  if (status !== 200) throw new Error(`GET ${target} answered ${String(status)}`);
}

interface Costs {
  readonly privilegedUs: number;
  readonly roleUs: number;
}

async function costsOf(api: TestApi, target: string, count: number): Promise<Costs> {
  const round = async (peer: typeof BOB): Promise<number> => {
    const cpu = process.cpuUsage();
    for (let n = 0; n < count; n++) await read(api, target, peer);
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / count;
  };
  const privileged: number[] = [];
  const role: number[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    privileged.push(await round(ADMIN));
    role.push(await round(BOB));
  }
  return { privilegedUs: median(privileged), roleUs: median(role) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function rowsOf(list: Costs, get: Costs): Row[] {
  const ratio = list.roleUs / list.privilegedUs;
  const decisionUs = Math.max(0, get.roleUs - get.privilegedUs);
  return [
    {
      what: `list of ${String(PODS)} pods under roles, ${String(BINDINGS)} bindings`,
      value: `${list.roleUs.toFixed(0)} µs of CPU`,
      yardstick: `as system:masters ${list.privilegedUs.toFixed(0)} µs`,
      figure: ratio.toFixed(2),
      aim: "≤ 1.1",
      verdict: verdict(ratio <= 1.1),
    },
    {
      what: `GET of a pod under roles and fair shares, ${String(BINDINGS)} bindings`,
      value: `${get.roleUs.toFixed(1)} µs of CPU`,
      yardstick: `as system:masters ${get.privilegedUs.toFixed(1)} µs`,
      figure: `+${decisionUs.toFixed(1)} µs`,
      aim: "≤ 2 µs",
      verdict: verdict(decisionUs <= 2),
    },
  ];
}

export const access: Bench = {
  name: "access",
  async run(context) {
    context.progress("access");
    const names = Array.from({ length: NAMESPACES }, (_, n) => (n === 0 ? "default" : `ns-${String(n)}`));
    const api = await TestApi.start(names);
    try {
      await fill(api);
      await costsOf(api, `${PATH}/pod-1`, 2000);
      return rowsOf(await costsOf(api, PATH, 300), await costsOf(api, `${PATH}/pod-1`, 4000));
    } finally {
      await api.store.close();
    }
  },
};
