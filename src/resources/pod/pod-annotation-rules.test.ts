import { describe, expect, test } from "vitest";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import { deployment } from "../workloads/deployment.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);
const MIRROR = "kubernetes.io/config.mirror";
const COST = "controller.kubernetes.io/pod-deletion-cost";
const ARMOR = "container.apparmor.security.beta.kubernetes.io/a";

function annotated(annotations: Manifest, spec: Manifest = {}): Manifest {
  return { metadata: { annotations }, spec: { containers: [{ name: "a", image: "i" }], ...spec } };
}

describe("annotations of a pod", () => {
  test("need a node name when they mark a mirror pod", () => {
    expect(probe.problems(annotated({ [MIRROR]: "x" }))).toEqual([
      `metadata.annotations[${MIRROR}]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set`,
    ]);
    expect(probe.problems(annotated({ [MIRROR]: "x" }, { nodeName: "n" }))).toEqual([]);
  });

  test.each(["0", "-5", "2147483647"])("may set the deletion cost %s", (cost) => {
    expect(probe.problems(annotated({ [COST]: cost }))).toEqual([]);
  });

  test.each(["", "+1", "007", "1.5", "2147483648", "abc"])("may not set the deletion cost %j", (cost) => {
    expect(probe.problems(annotated({ [COST]: cost }))).toEqual([
      `metadata.annotations[${COST}]: Invalid value: ${JSON.stringify(cost)}: must be a 32bit integer`,
    ]);
  });

  test("have valid seccomp profiles", () => {
    const key = "seccomp.security.alpha.kubernetes.io/pod";
    const problems = (profile: string): readonly string[] => probe.problems(annotated({ [key]: profile }));

    for (const good of ["runtime/default", "docker/default", "unconfined", "localhost/a/b"])
      expect(problems(good)).toEqual([]);
    expect(problems("odd")).toEqual([
      `metadata.annotations.${key}: Invalid value: "odd": must be a valid seccomp profile`,
    ]);
    expect(problems("localhost//a")).toEqual([
      `metadata.annotations.${key}: Invalid value: "/a": must be a relative path`,
    ]);
  });

  test("follow the same rules in a template", () => {
    const template = {
      metadata: { labels: { app: "a" }, annotations: { [COST]: "x" } },
      spec: { containers: [{ name: "a", image: "i" }] },
    };

    expect(
      new KindProbe(deployment).problems({ spec: { selector: { matchLabels: { app: "a" } }, template } }),
    ).toEqual([`spec.template.annotations[${COST}]: Invalid value: "x": must be a 32bit integer`]);
  });

  test("that are fixed on create cannot change", () => {
    const securityContext = { appArmorProfile: { type: "Unconfined" } };
    const spec = { nodeName: "n", containers: [{ name: "a", image: "i", securityContext }] };
    const plain = annotated({ other: "x" }, spec);
    const fixed = annotated({ [MIRROR]: "x", [ARMOR]: "unconfined" }, spec);

    expect(probe.updateProblems(annotated({ [MIRROR]: "x" }, spec), plain)).toEqual([
      `metadata.annotations[${MIRROR}]: Forbidden: may not add mirror pod annotation`,
    ]);
    expect(probe.updateProblems(annotated({ [ARMOR]: "runtime/default" }, spec), fixed)).toEqual([
      `metadata.annotations[${ARMOR}]: Forbidden: may not remove or update AppArmor annotations`,
      `metadata.annotations[${MIRROR}]: Forbidden: may not remove or update mirror pod annotation`,
    ]);
    expect(probe.updateProblems(annotated({ other: "y" }, spec), plain)).toEqual([]);
  });
});
