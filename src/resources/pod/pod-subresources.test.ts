import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import type { Binding, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import {
  bindingConflict,
  bindPod,
  checkBinding,
  checkEphemeralContainersUpdate,
  prepareEphemeralContainers,
} from "./pod-subresources.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);
const USER = { name: "alice", uid: "", groups: [], extra: {} };
const CONTEXT = { now: Date.UTC(2026, 0, 2, 3, 4, 5), user: USER };

function build(spec: Manifest = {}, more: Manifest = {}): Draft<Pod> {
  return probe.created({
    ...more,
    spec: { containers: [{ name: "main", image: "a" }], ...spec },
  }) as Draft<Pod>;
}

function problemsOf(
  check: (next: Pod, previous: Pod, errors: FieldErrors) => void,
  pods: readonly [Pod, Pod],
): readonly string[] {
  const errors = new FieldErrors();
  check(pods[0], pods[1], errors);
  return errors.found.map(fieldErrorText);
}

describe("ephemeral containers", () => {
  const debug = { name: "debug", image: "busybox" };

  test("are the only field that their subresource changes", () => {
    const draft = build({ ephemeralContainers: [debug], nodeName: "elsewhere" });

    prepareEphemeralContainers(draft, build());

    expect(draft.spec.ephemeralContainers).toHaveLength(1);
    expect(draft.spec).not.toHaveProperty("nodeName");
  });

  test("can be added", () => {
    expect(
      problemsOf(checkEphemeralContainersUpdate, [build({ ephemeralContainers: [debug] }), build()]),
    ).toEqual([]);
  });

  test("cannot be removed", () => {
    expect(
      problemsOf(checkEphemeralContainersUpdate, [build(), build({ ephemeralContainers: [debug] })]),
    ).toEqual([
      'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debug" may not be removed\n',
    ]);
  });

  test("cannot be changed", () => {
    const changed = build({ ephemeralContainers: [{ ...debug, tty: true }] });
    const [problem] = problemsOf(checkEphemeralContainersUpdate, [
      changed,
      build({ ephemeralContainers: [debug] }),
    ]);

    expect(problem).toContain('existing ephemeral containers "debug" may not be changed\n');
  });

  test("are refused for mirror pods", () => {
    const mirror = { metadata: { annotations: { "kubernetes.io/config.mirror": "x" } } };

    expect(problemsOf(checkEphemeralContainersUpdate, [build({}, mirror), build({}, mirror)])).toEqual([
      ": Forbidden: static pods do not support ephemeral containers",
    ]);
  });
});

describe("a binding", () => {
  const binding = (target: Binding["target"]): Binding =>
    incomplete<Binding>({
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "it", annotations: { a: "b" } },
      target,
    });

  test("sets the node of the pod", () => {
    const draft = build();

    bindPod(draft, binding({ name: "n1" }), CONTEXT);

    expect(draft).toMatchObject({
      metadata: { annotations: { a: "b" } },
      spec: { nodeName: "n1" },
      status: {
        conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-02T03:04:05Z" }],
      },
    });
  });

  test.each<[Binding["target"], readonly string[]]>([
    [{ kind: "Node", name: "n1" }, []],
    [{}, ["target.name: Required value"]],
    [
      { kind: "Pod", name: "n1" },
      ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
    ],
  ])("to %o", (target, problems) => {
    const errors = new FieldErrors();

    checkBinding(binding(target), errors);

    expect(errors.found.map(fieldErrorText)).toEqual(problems);
  });

  test.each<[Draft<Pod>, string | undefined]>([
    [build(), undefined],
    [build({ nodeName: "n1" }), 'pod it is already assigned to node "n1"'],
    [build({ schedulingGates: [{ name: "a" }] }), "pod it has non-empty .spec.schedulingGates"],
    [
      build({}, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      "pod it is being deleted, cannot be assigned to a host",
    ],
  ])("is refused when the pod cannot be bound: %#", (object, problem) => {
    expect(bindingConflict(object)).toBe(problem);
  });
});
