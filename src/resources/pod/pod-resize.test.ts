import { describe, expect, test } from "vitest";
import { FieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { KindProbe, type Manifest } from "../rules/kind-probe.ts";
import type { Draft } from "../rules/kind-rules.ts";
import { checkResize, prepareResize } from "./pod-resize.ts";
import { pod } from "./pod.ts";

const probe = new KindProbe(pod);

function build(spec: Manifest = {}): Draft<Pod> {
  const all = { containers: [{ name: "main", image: "a" }], ...spec };
  return probe.created({ spec: all }) as Draft<Pod>;
}

/** Errors when the server writes `sent` over `previous`. */
function problemsOf(sent: Draft<Pod>, previous: Pod): readonly string[] {
  const errors = new FieldErrors();
  prepareResize(sent, previous);
  checkResize(sent, previous, errors);
  return errors.found.map(fieldErrorText);
}

describe("a resize", () => {
  const sized = (resources: Manifest): Draft<Pod> =>
    build({ containers: [{ name: "main", image: "a", resources }] });

  test("changes resources and no other field", () => {
    const draft = build({
      containers: [{ name: "main", image: "b", resources: { requests: { cpu: "2" } } }],
    });

    prepareResize(draft, sized({ requests: { cpu: "1" } }));

    expect(draft.spec.containers[0]).toMatchObject({ image: "a", resources: { requests: { cpu: "2" } } });
  });

  test.each<[string, Manifest, Manifest, readonly string[]]>([
    ["changes cpu", { requests: { cpu: "2" } }, { requests: { cpu: "1" } }, []],
    [
      "keeps the QoS class",
      { requests: { cpu: "1" } },
      {},
      ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      "removes no request",
      { requests: { cpu: "1" } },
      { requests: { cpu: "1", memory: "1Gi" } },
      ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
    ],
    [
      "changes no other resource",
      { requests: { cpu: "1", "ephemeral-storage": "1Gi" } },
      { requests: { cpu: "1" } },
      ["spec: Forbidden: only cpu and memory resources are mutable"],
    ],
  ])("%s", (...[, next, previous, problems]) => {
    expect(problemsOf(sized(next), sized(previous))).toEqual(problems);
  });

  const named = (...names: readonly string[]): Draft<Pod> =>
    build({
      containers: names.map((name) => ({ name, image: "a", resources: { requests: { cpu: "1" } } })),
    });

  test("neither renames nor reorders containers", () => {
    const detail = "Forbidden: containers may not be renamed or reordered on resize";

    expect(problemsOf(named("b", "a"), named("a", "b"))).toEqual([
      `spec.containers[0].name: ${detail}`,
      `spec.containers[1].name: ${detail}`,
    ]);
    expect(problemsOf(named("a", "c"), named("a", "b"))).toEqual([`spec.containers[1].name: ${detail}`]);
    expect(problemsOf(named("a"), named("a", "b"))).toEqual([
      "spec.containers: Forbidden: containers may not be added or removed on resize",
    ]);
  });

  const withInit = (init: Manifest): Draft<Pod> =>
    build({
      containers: [{ name: "main", image: "a", resources: { requests: { cpu: "1" } } }],
      initContainers: [{ name: "init", image: "a", ...init }],
    });
  const resources = (cpu: string): Manifest => ({ resources: { requests: { cpu } } });
  const restarting = { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] };

  test("changes init containers that need no restart for it", () => {
    const once = { ...restarting, ...resources("2") };
    const storage = { resources: { requests: { cpu: "1", "ephemeral-storage": "1Gi" } } };

    expect(problemsOf(withInit(resources("2")), withInit(resources("1")))).toEqual([]);
    expect(problemsOf(withInit(once), withInit({ ...restarting, ...resources("1") }))).toEqual([
      "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized",
    ]);
    expect(
      problemsOf(
        withInit({ ...once, restartPolicy: "Always" }),
        withInit({ ...restarting, ...resources("1"), restartPolicy: "Always" }),
      ),
    ).toEqual([]);
    expect(problemsOf(withInit(storage), withInit(resources("1")))).toEqual([
      "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable",
    ]);
  });

  const whole = (all: Manifest | undefined): Draft<Pod> => build({ resources: all });
  const both = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "2Gi" } };

  test("changes pod-level resources", () => {
    const less = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2" } };
    const pages = { ...both, limits: { ...both.limits, "hugepages-2Mi": "2Mi" } };

    expect(problemsOf(whole({ ...both, limits: { cpu: "3", memory: "2Gi" } }), whole(both))).toEqual([]);
    expect(problemsOf(whole(less), whole(both))).toEqual([
      "spec.resources.limits: Forbidden: pod-level resource limits cannot be removed",
    ]);
    expect(problemsOf(whole(pages), whole(both))).toContain(
      "spec: Forbidden: only cpu and memory resources are mutable at pod-level",
    );
    expect(problemsOf(whole(undefined), whole(both))).toContain(
      "spec.resources: Forbidden: pod-level resources cannot be removed",
    );
  });
});
