/** `setpoint new` writes a project that works at once with the packed package. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { PackageConsumer } from "./package-consumer.ts";

const consumer = new PackageConsumer();
afterAll(() => consumer[Symbol.dispose]());

describe("setpoint new", () => {
  test("writes a project whose types hold and whose tests pass", () => {
    const made = consumer.setpoint(["new", "my-operator"]);
    expect(made).toEqual({
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
    consumer.setpoint(["new", "packed"]);
    const manifest = JSON.parse(readFileSync(join(consumer.folder, "packed/package.json"), "utf8")) as {
      readonly dependencies: { readonly setpoint: string };
    };

    const tarball = manifest.dependencies.setpoint.replace("file:", "");
    expect(tarball).toMatch(/^vendor\/setpoint-\d.*\.tgz$/);
    expect(existsSync(join(consumer.folder, "packed", tarball))).toBe(true);
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
