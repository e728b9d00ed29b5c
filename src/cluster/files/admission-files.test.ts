import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { readAdmission } from "./admission-files.ts";

const loop = createRealLoop({ name: "test" });
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "setpoint-admission-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const SECURITY = `apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults:
  enforce: baseline
exemptions:
  namespaces: [kube-system]
`;

function configuration(plugin: string): string {
  return `apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n${plugin}`;
}

describe("a file for admission", () => {
  test("holds the configuration of PodSecurity", async () => {
    const inner = SECURITY.replaceAll(/^/gm, "    ").trimEnd();
    const configFile = file("a.yaml", configuration(`- name: PodSecurity\n  configuration:\n${inner}\n`));

    const { podSecurity } = await readAdmission({ configFile }, loop);

    expect(podSecurity?.defaults.enforce.level).toBe("baseline");
    expect(podSecurity?.defaults.warn.level).toBe("privileged");
    expect(podSecurity?.exemptions.namespaces).toEqual(["kube-system"]);
  });

  test("names another file beside it", async () => {
    file("security.yaml", SECURITY);
    const configFile = file("a.yaml", configuration("- name: PodSecurity\n  path: security.yaml\n"));

    const { podSecurity } = await readAdmission({ configFile }, loop);

    expect(podSecurity?.defaults.enforce.level).toBe("baseline");
  });

  test.each([
    ["kind: Other", "expected an AdmissionConfiguration of apiserver.config.k8s.io/v1"],
    [configuration("- name: EventRateLimit\n"), 'no configuration is taken for plugin "EventRateLimit"'],
    [configuration("- name: PodSecurity\n"), "PodSecurity has neither path nor configuration"],
    [
      configuration("- name: PodSecurity\n  configuration: {kind: X}\n"),
      "must be a PodSecurityConfiguration",
    ],
  ])("with a mistake is refused with its name", async (text, says) => {
    const configFile = file("a.yaml", text);

    await expect(readAdmission({ configFile }, loop)).rejects.toThrow(
      `${configFile} is not a valid AdmissionConfiguration: `,
    );
    await expect(readAdmission({ configFile }, loop)).rejects.toThrow(says);
  });
});
