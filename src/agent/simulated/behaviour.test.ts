import { describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import * as behaviour from "./behaviour.ts";

describe("the behaviour of a simulated container", () => {
  test("is to run forever by default", () => {
    expect(behaviourOf(pod({}), web()).exit).toBeUndefined();
  });

  test("follows its command", () => {
    expect(behaviourOf(pod({}), web({ command: ["sleep"], args: ["3"] })).exit).toEqual({
      afterMs: 3000,
      exitCode: 0,
    });
  });

  test("is to complete in a Job, unless it is a sidecar", () => {
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "task", uid: "1", controller: true };
    const sidecar = web({ name: "side", restartPolicy: "Always" });
    const inJob = pod({ ownerReferences: [owner] }, [sidecar]);

    expect(behaviourOf(inJob, web({ command: ["backup"] })).exit).toEqual({ afterMs: 1000, exitCode: 0 });
    expect(behaviourOf(inJob, sidecar).exit).toBeUndefined();
  });

  test("is to wait in a pause image, also in a Job", () => {
    const owner = { apiVersion: "batch/v1", kind: "Job", name: "task", uid: "1", controller: true };
    const inJob = pod({ ownerReferences: [owner] });

    expect(behaviourOf(inJob, web({ image: "registry.k8s.io/pause:3.10" })).exit).toBeUndefined();
    expect(behaviourOf(inJob, web({ image: "registry.k8s.io/pausing:1" })).exit).toBeDefined();
  });

  test("follows a command that checks its user", () => {
    const checking = (user: number) =>
      web({ command: ["sh", "-c", "test $(id -u) -eq 65534"], securityContext: { runAsUser: user } });

    expect(behaviourOf(pod({}), checking(65_534)).exit).toEqual({ afterMs: 0, exitCode: 0 });
    expect(behaviourOf(pod({}), checking(0)).exit).toEqual({ afterMs: 0, exitCode: 1 });
    expect(behaviourOf(pod({}), web({ command: ["sh", "-c", "test $(id -u) -eq 0"] })).exit).toBeUndefined();
  });

  test("follows a command that checks its completion index", () => {
    const index = {
      fieldRef: { fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']" },
    };
    const container = web({
      command: ["sh", "-c", "if [ $(expr ${INDEX} % 2) -ne 0 ]; then exit 1; fi"],
      env: [{ name: "INDEX", valueFrom: index }],
    });
    const codeAt = (place: string) =>
      behaviourOf(pod({ annotations: { "batch.kubernetes.io/job-completion-index": place } }), container).exit
        ?.exitCode;

    expect([codeAt("0"), codeAt("1"), codeAt("2")]).toEqual([0, 1, 0]);
  });

  test("is to complete in an init container", () => {
    const init = web({ name: "init", command: ["migrate"] });

    expect(behaviourOf(pod({}, [init]), init).exit).toEqual({ afterMs: 1000, exitCode: 0 });
  });

  test("follows annotations, and those for one container take precedence", () => {
    const annotations = {
      "simulated.setpoint.dev/exit-after": "1m",
      "web.simulated.setpoint.dev/exit-after": "10",
      "simulated.setpoint.dev/exit-code": "3",
      "simulated.setpoint.dev/ready-after": "never",
    };
    const annotated = pod({ annotations });

    expect(behaviourOf(annotated, web()).exit).toEqual({ afterMs: 10_000, exitCode: 3 });
    expect(behaviourOf(annotated, web({ name: "other" })).exit).toEqual({ afterMs: 60_000, exitCode: 3 });
    expect(behaviourOf(annotated, web()).readiness.fromMs).toBe(Infinity);
  });

  test("is to pass probes, unless their commands fail or exceed the timeout", () => {
    const probing = (command: readonly string[]) => web({ readinessProbe: { exec: { command } } });
    const fromMs = (container: Container) => behaviourOf(pod({}), container).readiness.fromMs;

    expect(fromMs(probing(["check", "--all"]))).toBe(0);
    expect(fromMs(probing(["true"]))).toBe(0);
    expect(fromMs(probing(["/bin/false"]))).toBe(Infinity);
    expect(fromMs(probing(["sh", "-c", "sleep 10"]))).toBe(Infinity);
  });

  test("is to pass a probe that reads a file while the file exists", () => {
    const livenessProbe = { exec: { command: ["cat", "/tmp/ok"] } };
    const command = ["sh", "-c", "sleep 1; touch /tmp/ok; sleep 30; rm /tmp/ok; sleep 600"];

    expect(behaviourOf(pod({}), web({ livenessProbe, command })).liveness).toEqual({
      fromMs: 1000,
      untilMs: 31_000,
    });
    expect(behaviourOf(pod({}), web({ livenessProbe })).liveness.untilMs).toBe(Infinity);
  });

  test("ignores invalid annotations and reports them", () => {
    const annotations = {
      "simulated.setpoint.dev/exit-after": "soon",
      "simulated.setpoint.dev/exit-code": "-1",
      "simulated.setpoint.dev/colour": "red",
      "example.com/other": "x",
    };

    expect(behaviourOf(pod({ annotations }), web()).exit).toBeUndefined();
    expect(behaviour.behaviourProblems(pod({ annotations }))).toHaveLength(3);
  });
});

function web(more: Partial<Container> = {}): Container {
  return { name: "web", image: "web:1", resources: {}, ...more };
}

function pod(metadata: Partial<Pod["metadata"]>, initContainers: readonly Container[] = []): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", uid: "1", resourceVersion: "1", creationTimestamp: "", ...metadata },
    spec: { containers: [web()], initContainers },
    status: {},
  };
}

/** The behaviour when the state of all files is unknown. */
function behaviourOf(of: Pod, container: Container): behaviour.Behaviour {
  return behaviour.behaviourOf(of, container, () => undefined);
}
