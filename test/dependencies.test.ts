/** Dependencies: none runs an install script, and each is the package that was chosen. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { verdictOf } from "../scripts/audit-verdict.mjs";

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const ROOT = new URL("../", import.meta.url);

function read(name: string): string {
  return readFileSync(new URL(name, ROOT), "utf8");
}

const { packages } = JSON.parse(read("package-lock.json")) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

describe("packages of others", () => {
  /** Packages that work although their install script never runs, with the reason; none today. */
  const WITH_SCRIPTS: Readonly<Record<string, string>> = {};

  test("bring no script that runs when they are installed, unless listed with a reason", () => {
    const found = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
      hasInstallScript === true ? [path.replace(/^.*node_modules\//, "")] : [],
    );

    expect(found.toSorted()).toEqual(Object.keys(WITH_SCRIPTS).toSorted());
  });

  test("run none here either way", () => {
    const { scripts } = JSON.parse(read("package.json")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const lifecycle = ["preinstall", "install", "postinstall", "prepare", "prepublish", "prepack"];

    expect(read(".npmrc").split("\n")).toContain("ignore-scripts=true");
    expect(Object.keys(scripts).filter((name) => lifecycle.includes(name))).toEqual([]);
  });

  test("are locked by their content, and come from the registry", () => {
    const others = Object.entries(packages).filter(([path]) => path !== "");
    const loose = others.filter(([, { integrity = "" }]) => !integrity.startsWith("sha512-"));
    const elsewhere = others.filter(([, { resolved, link }]) => resolved !== undefined || link === true);

    expect(others.length).toBeGreaterThan(50);
    expect(loose.map(([path]) => path)).toEqual([]);
    expect(elsewhere.map(([path]) => path)).toEqual([]);
  });

  test("are locked for every platform, or `npm ci` refuses the lock file", () => {
    const locked = new Set(Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, "")));
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );

    expect(wanted.length).toBeGreaterThan(100);
    expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
  });
});

describe("the answer of an audit", () => {
  const counts = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0 };
  const report = (severity: string): string =>
    JSON.stringify({
      vulnerabilities: { foo: { name: "foo", severity } },
      metadata: { vulnerabilities: { ...counts, [severity]: 1, total: 1 } },
    });

  test.each(["high", "critical"])("with a fault of severity %s stops a release", (severity) => {
    expect(verdictOf(report(severity))).toEqual({
      line: `refused for known faults in foo (${severity}): see npm audit`,
      isRefused: true,
    });
  });

  test.each([
    [report("moderate"), "no known fault of high severity in production dependencies; 1 moderate"],
    [
      JSON.stringify({ vulnerabilities: {}, metadata: { vulnerabilities: counts } }),
      "no known fault of high severity in production dependencies",
    ],
  ])("with less does not: %#", (text, line) => {
    expect(verdictOf(text)).toEqual({ line, isRefused: false });
  });

  test.each(["", "<html>", "null", "1", '{"message":"404","error":{"code":"ENOAUDIT"}}', '{"metadata":{}}'])(
    "that is none stops nothing, and is told: %j",
    (text) => {
      expect(verdictOf(text)).toMatchObject({ isRefused: false });
      expect(verdictOf(text).line).toContain("the registry gives no audit report");
    },
  );
});
