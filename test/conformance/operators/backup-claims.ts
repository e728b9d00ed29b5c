/** Claims about the operator of backup.yaml, in order: all claims share the cluster, and the last one uninstalls the operator. */
import { afterAll, expect, test } from "vitest";
import { Secret } from "../../../src/api/generated/types/core-v1.ts";
import { ClusterRole } from "../../../src/api/generated/types/rbac-v1.ts";
import { table } from "../kubectl/kubectl.ts";
import type { Kubectl } from "../kubectl/kubectl.ts";
import { backupPlans } from "./backup-operator.ts";
import { documents } from "./fixture.ts";
import type { OperatorFixture } from "./fixture.ts";
import { holds, install, reasons, SOON } from "./installation.ts";
import type { Installation } from "./installation.ts";
import { OperatorRun } from "./operator-run.ts";

const LEASE = { namespace: "backup", name: "nightly-backup" };

export interface BackupScene {
  readonly world: OperatorFixture;
  readonly installation: Installation;
  readonly operator: OperatorRun;
  /** Namespace whose plans count against no quota. */
  readonly team: Kubectl;
}

export function backupClaims(scene: () => BackupScene): void {
  afterAll(() => scene().operator[Symbol.asyncDispose]());
  installed(scene);
  atWork(scene);
  applied(scene);
  refusing(scene);
  permitted(scene);
  removed(scene);
}

/** Installs and starts the operator. */
export async function beginBackups(world: OperatorFixture): Promise<BackupScene> {
  const team = await world.team("data");
  const installation = await install(world, {
    files: ["backup-crds", "backup"],
    flags: ["--server-side"],
    namespace: "backup",
    early: () => team.ok("create", "-f", team.file("early.json", plan("early"))),
  });
  const connection = await world.connectAs("backup", "nightly-backup");
  const operator = OperatorRun.start(connection, { controllers: [backupPlans], lease: LEASE });
  return { world, installation, operator, team };
}

function plan(name: string, spec: object = {}): object {
  return {
    apiVersion: "backup.example.net/v1",
    kind: "BackupPlan",
    metadata: { name },
    spec: { schedule: "0 3 * * *", retention: { days: 30 }, ...spec },
  };
}

function installed(scene: () => BackupScene): void {
  test("installs by server-side apply, and what is applied again does not change", () => {
    const { first, second, before, after, early, available } = scene().installation;

    expect(first).toHaveLength(27);
    expect(new Set([...first, ...second].map(([, outcome]) => outcome))).toEqual(
      new Set(["serverside-applied"]),
    );
    expect(after).toEqual(before);
    expect(available).toEqual(["nightly-backup"]);
    // An instance can be created as soon as its kind is served.
    expect(early).toBe("backupplan.backup.example.net/early created\n");
  });

  test("has what its class, its limits and its quota say", async () => {
    const kubectl = scene().world.kubectl.within("backup");

    const pods = await kubectl.json("get", "pods");
    const quota = await kubectl.json("get", "resourcequota", "nightly-backup-critical");

    expect(pods["items"]?.[0]?.["spec"]).toMatchObject({
      priority: 1_000_000,
      preemptionPolicy: "Never",
      imagePullSecrets: [{ name: "nightly-backup-registry" }],
      initContainers: [{ resources: { requests: { cpu: "50m", memory: "64Mi" } } }],
    });
    expect(quota["status"]).toMatchObject({ hard: { pods: "10" }, used: { pods: "1" } });
  });
}

function atWork(scene: () => BackupScene): void {
  test("gathers its own permissions from the roles that are labelled for it", async () => {
    const { world, operator } = scene();

    await holds(world.kubectl, LEASE, operator);

    const account = "--as=system:serviceaccount:backup:nightly-backup";
    const can = ["auth", "can-i", account, "-n", "data"];
    expect(await world.kubectl.ok(...can, "create", "cronjobs.batch")).toBe("yes\n");
    expect((await world.kubectl.run(...can, "delete", "backupplans.backup.example.net")).stdout).toBe("no\n");
  });

  test("makes jobs of plans, also of those that were there before it", async () => {
    const { team } = scene();
    await team.ok("wait", "--for=condition=Scheduled", "bp/early", "--timeout=15s");

    const job = await team.json("get", "cronjob", "early");

    expect(job["metadata"]?.["ownerReferences"]).toMatchObject([{ kind: "BackupPlan", name: "early" }]);
    expect(job["spec"]).toMatchObject({ schedule: "0 3 * * *", suspend: false });
    await expect
      .poll(() => team.ok("get", "events", "--field-selector=reason=Scheduled", "-o", "name"), SOON)
      .toMatch(/^event\/early/);
  });
}

function applied(scene: () => BackupScene): void {
  const target = (name: string, others: object = {}): object => ({ name, type: "files", ...others });
  const server = (team: Kubectl, owner: string, targets: readonly object[]): readonly string[] => [
    "apply",
    "--server-side",
    `--field-manager=${owner}`,
    "-f",
    team.file(`${owner}.json`, plan("shared", { targets })),
  ];

  test("lets several people apply the targets of one plan, each their own", async () => {
    const { team } = scene();
    const options = { exclude: ["*.tmp"], deep: { free: [1, { a: null }] } };
    await team.ok(...server(team, "ann", [target("docs", { options, limit: "10Gi" }), target("old")]));
    await team.ok(...server(team, "ben", [target("mail", { limit: 5 })]));

    const conflict = await team.refused(
      ...server(team, "ben", [target("mail"), target("docs", { type: "volume" })]),
    );
    await team.ok(...server(team, "ann", [target("docs", { options, limit: "10Gi" })]));

    expect(conflict).toContain('conflict with "ann": .spec.targets[name="docs"].type');
    expect((await team.json("get", "bp", "shared"))["spec"]?.["targets"]).toEqual([
      { name: "docs", type: "files", options, limit: "10Gi" },
      { name: "mail", type: "files", limit: 5 },
    ]);
    const maps = ["get", "configmap", "shared-targets", "-o", "jsonpath={.data.targets\\.json}"];
    const count = async (): Promise<number> =>
      (JSON.parse(await team.ok(...maps)) as readonly object[]).length;
    await expect.poll(count, SOON).toBe(2);
    expect(table(await team.ok("get", "bp", "shared"))).toEqual([
      ["NAME", "SCHEDULE", "TARGETS", "LAST BACKUP", "AGE"],
      ["shared", "0 3 * * *", "docs", "AGE"],
    ]);
  });

  test("keeps unknown fields where they are free, and drops or refuses them elsewhere", async () => {
    const { team } = scene();
    const hooks = { before: ["sync"], after: [{ run: "notify" }] };
    await team.ok("create", "-f", team.file("free.json", plan("free", { hooks, suspend: true })));
    const loose = plan("loose", { strange: 1 });

    expect((await team.json("get", "bp", "free"))["spec"]?.["hooks"]).toEqual(hooks);
    expect(await team.ok("get", "bp", "--field-selector=spec.suspend=true", "-o", "name")).toBe(
      "backupplan.backup.example.net/free\n",
    );
    expect(await team.refused("create", "-f", team.file("loose.json", loose))).toContain(
      'unknown field "spec.strange"',
    );
  });
}

function refusing(scene: () => BackupScene): void {
  test("refuses what its schema and its rules do not allow", async () => {
    const { team } = scene();
    const items = [
      plan("b1", { schedule: "often" }),
      plan("b".repeat(41)),
      plan("b3", { snapshotClass: "fast", targets: [{ name: "t", type: "files" }] }),
    ];
    const changed = plan("shared", { targets: [{ name: "docs", type: "database" }] });

    const refused = await team.refused("create", "-f", team.file("bad.yaml", documents(items)));
    const kept = await team.refused(
      "apply",
      "--server-side",
      "--force-conflicts",
      "-f",
      team.file("changed.json", changed),
    );

    expect(refused).toContain('spec.schedule: Invalid value: "often": not a schedule: often');
    expect(refused).toContain("the name is too long to make the names of Jobs from it");
    expect(refused).toContain("a snapshot class is for volumes");
    expect(kept).toContain("the type of a target cannot be changed");
  });

  test("has a policy whose limits are an object of its own kind", async () => {
    const { team, world } = scene();
    const file = team.file("long.json", plan("long", { retention: { days: 100 } }));
    const policy = (spec: object): readonly string[] => [
      "patch",
      "backuppolicy",
      "nightly-backup",
      "--type=merge",
      "-p",
      JSON.stringify({ spec }),
    ];

    const refused = await team.refused("create", "-f", file);
    await world.kubectl.ok(...policy({ maxRetentionDays: 120, allowedTypes: ["files"] }));
    const trying = (): Promise<string> => team.run("create", "-f", file).then(({ stdout }) => stdout);
    await expect.poll(trying, SOON).toContain("created");
    const volume = team.file("volume.json", plan("volume", { targets: [{ name: "disk", type: "volume" }] }));

    expect(refused).toContain(
      "ValidatingAdmissionPolicy 'nightly-backup.backup.example.net' with binding 'nightly-backup.backup.example.net' denied request: " +
        "backups are kept for 90 days at most, not 100",
    );
    expect(await team.refused("create", "-f", volume)).toContain("denied request: not allowed: disk");
  });

  test("counts instances of its own kind against a quota", async () => {
    const kubectl = scene().world.kubectl.within("backup");
    const make = (name: string): readonly string[] => [
      "create",
      "-f",
      kubectl.file(`${name}.json`, plan(name)),
    ];

    await kubectl.ok(...make("one"));
    await kubectl.ok(...make("two"));

    expect(await kubectl.refused(...make("three"))).toContain(
      "exceeded quota: nightly-backup, requested: count/backupplans.backup.example.net=1, " +
        "used: count/backupplans.backup.example.net=2, limited: count/backupplans.backup.example.net=2",
    );
  });
}

function permitted(scene: () => BackupScene): void {
  test("may be used by editors, and only read by viewers", async () => {
    const { team } = scene();
    const file = team.file("mine.json", plan("mine"));

    expect(await team.refused("apply", "--server-side", "-f", file, "--as=viewor")).toContain("(Forbidden)");
    await team.ok("apply", "--server-side", "-f", file, "--as=editor");
    expect(await team.ok("get", "bp", "-o", "name", "--as=viewor")).toContain("/mine");
    await team.ok("delete", "-f", file, "--as=editor");
    expect(await team.refused("delete", "bp", "early", "--as=viewor")).toContain("(Forbidden)");
  });

  test("is refused itself what its roles do not give it", async () => {
    const { operator } = scene();
    const { client } = operator;
    const credentials = { namespace: "backup", name: "nightly-backup-credentials" };

    const refused = await reasons([
      client(Secret).get(credentials),
      client(Secret).list({ namespace: "backup" }),
      client(Secret).get({ namespace: "backup", name: "nightly-backup-registry" }),
      client(ClusterRole).patch(
        { name: "nightly-backup-plans" },
        { type: "merge", changes: { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] } },
      ),
    ]);

    expect(refused).toEqual(["allowed", "Forbidden", "Forbidden", "Forbidden"]);
    expect(operator.refusals).toEqual([]);
  });
}

function removed(scene: () => BackupScene): void {
  test("leaves nothing behind", async () => {
    const { world, team, operator } = scene();
    await operator[Symbol.asyncDispose]();

    await scene().installation.remove();

    await expect
      .poll(() => team.ok("get", "cronjobs,configmaps", "-o", "name"), SOON)
      .toBe("configmap/kube-root-ca.crt\n");
    expect(await world.kubectl.ok("api-resources", "--api-group=backup.example.net", "-o", "name")).toBe("");
  });
}
