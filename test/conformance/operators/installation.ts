/** Installs an operator's manifests as its manual says, and records kubectl's outcomes. */
import { expect } from "vitest";
import { isApiError } from "../../../src/api/errors/api-error.ts";
import type { Kubectl } from "../kubectl/kubectl.ts";
import { apply, manifest, versions } from "./fixture.ts";
import type { OperatorFixture } from "./fixture.ts";
import type { OperatorRun } from "./operator-run.ts";

export interface InstallPlan {
  /** Files in the order in which they are applied. */
  readonly files: readonly string[];
  readonly flags?: readonly string[];
  readonly namespace: string;
  /** Runs once the kinds exist, before anything else runs. */
  readonly early: () => Promise<string>;
  /** Runs once everything runs, before the files are applied again. */
  readonly meanwhile?: () => Promise<void>;
}

/** Bound for effects of other components. */
export const SOON = { timeout: 45_000, interval: 100 };

type Outcomes = readonly (readonly [string, string])[];

export interface Installation {
  readonly first: Outcomes;
  /** Outcomes of applying the same files again once everything runs. */
  readonly second: Outcomes;
  /** Outcomes of server-side apply at that time. */
  readonly takenOver: Outcomes;
  readonly before: readonly object[];
  readonly after: readonly object[];
  readonly early: string;
  /** Available Deployments in the operator's own namespace. */
  readonly available: readonly string[];
  /** Deletes the files and waits until their objects are gone. */
  readonly remove: () => Promise<void>;
}

export async function install(world: OperatorFixture, plan: InstallPlan): Promise<Installation> {
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

/** Last in, first out. Objects may be gone with their namespace before kubectl reaches them. */
async function remove(kubectl: Kubectl, files: readonly string[]): Promise<void> {
  for (const file of files.toReversed()) {
    await kubectl.ok("delete", "-f", file, "--ignore-not-found", "--timeout=15s");
    const left = await kubectl.run("get", "-f", file, "--ignore-not-found", "-o", "name");
    expect(left.stdout).toBe("");
  }
}

/** Resolves once the operator holds the lease. */
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

/** Reason of each refusal. */
export async function reasons(calls: readonly Promise<unknown>[]): Promise<readonly string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((outcome) => {
    if (outcome.status === "fulfilled") return "allowed";
    const error: unknown = outcome.reason;
    return isApiError(error) ? error.reason : String(error);
  });
}
