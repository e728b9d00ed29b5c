/** `setpoint new` writes a project that works at once with the packed package. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { describePeer } from "../peers.ts";
import { PackageConsumer } from "./package-consumer.ts";
import { Folder, RunningCluster } from "./running-cluster.ts";

const consumer = new PackageConsumer();
afterAll(() => consumer[Symbol.dispose]());

interface Workflow {
  readonly jobs: { readonly test: { readonly steps: readonly { readonly run?: string }[] } };
}

describePeer("kubectl", "the manifests of a new project", (kubectl) => {
  test("are taken by kubectl with strict validation, the example after its kind is served", async () => {
    const folder = new Folder();
    onTestFinished(() => folder.remove());
    await using cluster = await RunningCluster.start(folder);
    consumer.write("setpoint.tgz", "");
    consumer.setpoint(["new", "applied", "--package", "setpoint.tgz"]);
    const apply = async (name: string): Promise<string> => {
      const file = join(consumer.folder, "applied/manifests", `${name}.yaml`);
      const args = ["apply", "--validate=strict", "-f", file, "--kubeconfig", cluster.kubeconfig];
      return (await promisify(execFile)(kubectl, args)).stdout;
    };

    const made = [await apply("crd"), await apply("rbac"), await apply("deployment")];
    await promisify(execFile)(kubectl, [
      ...["wait", "--for=condition=Established", "crd", "apps.example.com", "--timeout=20s"],
      ...["--kubeconfig", cluster.kubeconfig],
    ]);
    made.push(await apply("example"));

    expect(made.join("")).toBe(
      [
        "customresourcedefinition.apiextensions.k8s.io/apps.example.com created",
        "clusterrole.rbac.authorization.k8s.io/applied created",
        "serviceaccount/applied created",
        "clusterrolebinding.rbac.authorization.k8s.io/applied created",
        "deployment.apps/applied created",
        "app.example.com/web created",
        "",
      ].join("\n"),
    );
  });
});

describe("setpoint new", () => {
  /** Without --package it packs itself, which takes seconds. */
  const made = onceMade(() => consumer.setpoint(["new", "my-operator"]));

  test("writes a project whose types hold and whose tests pass", () => {
    expect(made()).toEqual({
      code: 0,
      output:
        `Wrote an operator to ${join(consumer.folder, "my-operator")}.\n\n` +
        `  cd ${join(consumer.folder, "my-operator")}\n  npm install\n  npm test\n`,
    });

    expect(consumer.compile("my-operator")).toEqual({ code: 0, output: "" });
    const tested = consumer.node(["--test", "dist/"], "my-operator");
    expect(tested.output).toMatch(/^# pass 4$/m);
    expect(tested.code).toBe(0);
  });

  test("has the package beside it, so that npm install needs no registry for it", () => {
    made();
    const manifest = JSON.parse(readFileSync(join(consumer.folder, "my-operator/package.json"), "utf8")) as {
      readonly dependencies: { readonly setpoint: string };
    };

    const tarball = manifest.dependencies.setpoint.replace("file:", "");
    expect(tarball).toMatch(/^vendor\/setpoint-\d.*\.tgz$/);
    expect(existsSync(join(consumer.folder, "my-operator", tarball))).toBe(true);
  });

  test("takes other names, and a tarball", () => {
    consumer.write("setpoint.tgz", "");
    expect(
      consumer.setpoint([
        "new",
        "shop",
        "--package",
        "setpoint.tgz",
        "--kind",
        "Class",
        "--group",
        "school.example.org",
      ]).code,
    ).toBe(0);

    expect(consumer.compile("shop")).toEqual({ code: 0, output: "" });
    expect(consumer.node(["--test", "dist/"], "shop").code).toBe(0);
  });

  test("writes the definition and the role that setpoint crd and setpoint rbac print", () => {
    consumer.write("setpoint.tgz", "");
    consumer.setpoint(["new", "printed", "--package", "setpoint.tgz"]);
    consumer.compile("printed");
    const manifest = (name: string): string =>
      readFileSync(join(consumer.folder, "printed/manifests", name), "utf8");

    const { output } = consumer.setpoint(["crd", "dist/kind.js"], "printed");
    const role = consumer.setpoint(["rbac", "dist/controller.js"], "printed");

    expect(output).toBe(manifest("crd.yaml"));
    expect(manifest("rbac.yaml").split("---\n")[0]).toBe(role.output);
  });

  test("writes a workflow for CI that runs the scripts of the package", () => {
    consumer.setpoint(["new", "flow", "--package", "setpoint.tgz"]);
    const read = (name: string): string => readFileSync(join(consumer.folder, "flow", name), "utf8");

    const { jobs } = parse(read(".github/workflows/test.yaml")) as Workflow;

    const commands = jobs.test.steps.flatMap(({ run }) => run ?? []);
    expect(commands).toEqual(["npm install --ignore-scripts", "npm test"]);
    expect(JSON.parse(read("package.json"))).toHaveProperty("scripts.test");
  });

  test("refuses a folder that is not empty, and leaves it alone", () => {
    consumer.write("full/notes.txt", "mine");

    const { code, output } = consumer.setpoint(["new", "full"]);

    expect(code).toBe(1);
    expect(output).toBe(`error: ${join(consumer.folder, "full")} is not empty: it has notes.txt\n`);
    expect(existsSync(join(consumer.folder, "full/package.json"))).toBe(false);
  });

  test.each([
    [["new", "My Operator"], "the name of the folder must match"],
    [["new", "ok", "--kind", "app"], "--kind must match"],
    [["new", "ok", "--kind", "Deployment"], "--kind Deployment is taken"],
    [["new", "ok", "--group", "nodots"], "--group must match"],
  ])("%j is wrong usage", (args, message) => {
    const { code, output } = consumer.setpoint(args);

    expect(code).toBe(2);
    expect(output).toContain(message);
  });
});

/** Makes the value when it is first asked for. */
function onceMade<T>(make: () => T): () => T {
  let value: { readonly made: T } | undefined;
  return () => (value ??= { made: make() }).made;
}
