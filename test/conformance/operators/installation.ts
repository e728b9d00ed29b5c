/** Installs an operator's manifests as its handbook says, and looks at what kubectl makes of them. */
import { expect } from "vitest";
import { isApiError } from "../../../src/api/errors/api-error.ts";
import type { Kubectl } from "../kubectl/kubectl.ts";
import type { OperatorRun } from "./operator-run.ts";
import { apply, manifest, versions } from "./world.ts";
import type { World } from "./world.ts";

export interface InstallPlan {
  /** In the order in which they are applied. */
  readonly files: readonly string[];
  readonly flags?: readonly string[];
  readonly namespace: string;
  /** Done when the kinds are there but nothing runs yet. */
  readonly early: () => Promise<string>;
  /** Done when everything runs, before the files are applied once more. */
  readonly meanwhile?: () => Promise<void>;
}

/** Until something that others do is there. */
export const SOON = { timeout: 10_000, interval: 100 };

type Outcomes = readonly (readonly [string, string])[];

export interface Installation {
  readonly first: Outcomes;
  /** The same files once more, when everything runs. */
  readonly second: Outcomes;
  /** What server-side apply would do then. */
  readonly takenOver: Outcomes;
  readonly before: readonly object[];
  readonly after: readonly object[];
  readonly early: string;
  /** Deployments of its own namespace. */
  readonly available: readonly string[];
  /** Deletes the files and waits until nothing is left of them. */
  readonly remove: () => Promise<void>;
}

export async function install(world: World, plan: InstallPlan): Promise<Installation> {
  const { kubectl } = world;
  const files = plan.files.map(manifest);
  const first: Outcomes[] = [];
  let early = "";
  await world.withoutNodes(async () => {
    for (const file of files) {
      first.push(await apply(kubectl, file, ...(plan.flags ?? [])));
      await kubectl.ok("wait", "--for=condition=Established", "crd", "--all", "--timeout=10s");
    }
    early = await plan.early();
  });
  const own = kubectl.within(plan.namespace);
  const deployments = ["deployments", "--all", "--timeout=20s"];
  const said = await own.ok("wait", "--for=condition=Available", ...deployments);
  await plan.meanwhile?.();
  const before = await Promise.all(files.map((file) => versions(kubectl, file)));
  const second: Outcomes[] = [];
  for (const file of files) second.push(await apply(kubectl, file, ...(plan.flags ?? [])));
  const after = await Promise.all(files.map((file) => versions(kubectl, file)));
  const takenOver: Outcomes[] = [];
  for (const file of files) takenOver.push(await apply(kubectl, file, "--server-side", "--dry-run=server"));
  return {
    first: first.flat(),
    second: second.flat(),
    takenOver: takenOver.flat(),
    before,
    after,
    early,
    available: [...said.matchAll(/^deployment\.apps\/(\S+) condition met$/gm)].map(([, name = ""]) => name),
    remove: () => remove(kubectl, files),
  };
}

/** Last in, first out. What goes with its namespace may be gone before kubectl comes to it. */
async function remove(kubectl: Kubectl, files: readonly string[]): Promise<void> {
  for (const file of files.toReversed()) {
    await kubectl.ok("delete", "-f", file, "--ignore-not-found", "--timeout=15s");
    const left = await kubectl.run("get", "-f", file, "--ignore-not-found", "-o", "name");
    expect(left.stdout).toBe("");
  }
}

/** The operator leads. */
export async function holds(
  kubectl: Kubectl,
  lease: { readonly namespace: string; readonly name: string },
  operator: OperatorRun,
): Promise<void> {
  const holder = `--for=jsonpath={.spec.holderIdentity}=${operator.identity}`;
  const place = ["--namespace", lease.namespace, `lease/${lease.name}`];
  const waiting = (): Promise<unknown> =>
    kubectl.run("wait", ...place, holder, "--timeout=10s").then(({ code }) => code);
  await expect.poll(waiting, SOON).toBe(0);
}

/** Why each of these was refused. */
export async function reasons(calls: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((outcome) => {
    if (outcome.status === "fulfilled") return "allowed";
    const error: unknown = outcome.reason;
    return isApiError(error) ? error.reason : String(error);
  });
}
