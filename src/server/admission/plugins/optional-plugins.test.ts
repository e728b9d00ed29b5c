/** Tests plugins that are off by default, and small plugins that are on. */
import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../../api/api-object.ts";
import type { Binding, Pod } from "../../../api/generated/types/core-v1.ts";
import type { AccessAttributes, Authorizer } from "../../access/authz/authorizer.ts";
import { AdmissionFixture } from "../admission-fixture.ts";
import type { AdmissionOutcome, Written } from "../admission-fixture.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { alwaysPullImages } from "./pods/always-pull-images.ts";

function pod(spec: object = {}, metadata: object = {}): Written {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", ...metadata },
    spec: { containers: [{ name: "a", image: "x", resources: {} }], ...spec },
  };
}

function create(fixture: AdmissionFixture, object: Written, resource = "pods"): Promise<AdmissionOutcome> {
  return fixture.attempt({ operation: "CREATE", resource, object });
}

function imageVolume(pullPolicy: string | undefined): object {
  return { name: "v", image: { reference: "y", pullPolicy } };
}

const IMAGES = {
  initContainers: [{ name: "i", image: "x", imagePullPolicy: "IfNotPresent" }],
  volumes: [{ name: "v", image: { reference: "y", pullPolicy: "Never" } }],
};

describe("AlwaysPullImages", () => {
  test("is off by default", async () => {
    const { object } = await create(new AdmissionFixture(), pod(IMAGES));

    expect((object as Pod).spec.initContainers?.[0]?.imagePullPolicy).toBe("IfNotPresent");
  });

  test("sets the pull policy of every image to Always", async () => {
    const fixture = new AdmissionFixture({ enabled: ["AlwaysPullImages"] });

    const { spec } = (await create(fixture, pod(IMAGES))).object as Pod;

    expect(spec.initContainers?.[0]?.imagePullPolicy).toBe("Always");
    expect(spec.containers[0]?.imagePullPolicy).toBe("Always");
    expect(spec.volumes?.[0]?.image?.pullPolicy).toBe("Always");
  });

  test("refuses every image whose pull policy a webhook has changed", () => {
    const changed: Written = pod({
      containers: [{ name: "a", image: "x", imagePullPolicy: "Always" }],
      volumes: [{ name: "plain" }, ...["Always", "Never", undefined].map(imageVolume)],
    });
    const request = { resource: { facts: { group: "", name: "pods" } }, name: "p" } as AdmissionRequest;

    expect(() => alwaysPullImages.validate?.(changed as ApiObject, request)).toThrow(
      'pods "p" is forbidden: [spec.volumes[2].image.pullPolicy: Unsupported value: "Never": supported values: "Always", ' +
        'spec.volumes[3].image.pullPolicy: Unsupported value: "": supported values: "Always"]',
    );
  });

  test("ignores an update without a new image", async () => {
    const fixture = new AdmissionFixture({ enabled: ["AlwaysPullImages"] });
    const write = {
      operation: "UPDATE",
      resource: "pods",
      object: pod(IMAGES),
      previous: pod(IMAGES),
    } as const;

    const { object, refusal } = await fixture.attempt(write);

    expect(refusal).toBe("");
    expect((object as Pod).spec.initContainers?.[0]?.imagePullPolicy).toBe("IfNotPresent");
  });
});

test("DenyServiceExternalIPs keeps existing addresses and refuses new ones", async () => {
  const fixture = new AdmissionFixture({ enabled: ["DenyServiceExternalIPs"] });
  const service = (...externalIPs: readonly string[]): Written => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "s", namespace: "default" },
    spec: { externalIPs },
  });
  const update = { operation: "UPDATE", resource: "services", previous: service("1.2.3.4") } as const;

  expect((await create(fixture, service("1.2.3.4"), "services")).refusal).toBe(
    'services "s" is forbidden: Use of external IPs is denied by admission control.',
  );
  expect((await fixture.attempt({ ...update, object: service("1.2.3.4") })).refusal).toBe("");
});

test("LimitPodHardAntiAffinityTopology allows required anti-affinity by hostname only", async () => {
  const fixture = new AdmissionFixture({ enabled: ["LimitPodHardAntiAffinityTopology"] });
  const apart = (topologyKey: string): Written =>
    pod({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
    });

  expect((await create(fixture, apart("kubernetes.io/hostname"))).refusal).toBe("");
  expect((await create(fixture, apart("zone"))).refusal).toBe(
    'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
  );
});

test("ExtendedResourceToleration adds one toleration for each requested device", async () => {
  const fixture = new AdmissionFixture({
    enabled: ["ExtendedResourceToleration"],
    disabled: ["DefaultTolerationSeconds"],
  });
  const resources = { requests: { "example.com/gpu": "1", cpu: "1" } };
  const containers = ["a", "b"].map((name) => ({ name, image: "x", resources }));

  const { object } = await create(fixture, pod({ containers }));

  expect((object as Pod).spec.tolerations).toEqual([
    { key: "example.com/gpu", operator: "Exists", effect: "NoSchedule" },
  ]);
});

test("NamespaceExists refuses objects in a missing namespace", async () => {
  const fixture = new AdmissionFixture({ enabled: ["NamespaceExists"] });

  expect((await create(fixture, pod())).refusal).toBe('namespaces "default" not found');
});

describe("OwnerReferencesPermissionEnforcement", () => {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u" };
  const owned = (...ownerReferences: readonly object[]): Written => pod({}, { ownerReferences });
  const setFor = (allowed: readonly string[]): AdmissionFixture => {
    const decide = ({ verb, resource, subresource }: AccessAttributes): ReturnType<Authorizer["decide"]> => {
      const isAllowed = allowed.includes([verb, resource, subresource].join(" ").trimEnd());
      return { outcome: isAllowed ? "allowed" : "no opinion", reason: "" };
    };
    return new AdmissionFixture({ enabled: ["OwnerReferencesPermissionEnforcement"] }, { decide });
  };

  test("allows the creator of an object to set its owner", async () => {
    expect((await create(setFor([]), owned(owner))).refusal).toBe("");
  });

  test("allows a new owner with the permission to delete the object", async () => {
    const write = { operation: "UPDATE", resource: "pods", object: owned(owner), previous: owned() } as const;

    expect((await setFor(["delete pods"]).attempt(write)).refusal).toBe("");
    expect((await setFor([]).attempt(write)).refusal).toBe(
      'pods "p" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>',
    );
  });

  test("refuses blockOwnerDeletion without the permission on the owner's finalizers", async () => {
    const blocking = owned({ ...owner, blockOwnerDeletion: true });

    expect((await create(setFor(["update replicasets finalizers"]), blocking)).refusal).toBe("");
    expect((await create(setFor([]), blocking)).refusal).toBe(
      'pods "p" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: , <nil>',
    );
  });

  test("refuses owners of unknown kinds", async () => {
    const strange = owned({ ...owner, kind: "Strange", blockOwnerDeletion: true });

    expect((await create(setFor([]), strange)).refusal).toContain(
      'cannot find RESTMapping for APIVersion apps/v1 Kind Strange: no matches for kind "Strange" in version "apps/v1"',
    );
  });
});

describe("PodTopologyLabels", () => {
  const labels = { "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", other: "o" };
  const start = async (): Promise<AdmissionFixture> => {
    const fixture = new AdmissionFixture();
    await fixture.put("nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n1", labels },
      spec: {},
    });
    return fixture;
  };

  test("adds the node's topology labels to a binding", async () => {
    const target = { kind: "Node", name: "n1" };
    const metadata = { name: "p", namespace: "default" };

    const { object } = await create(
      await start(),
      { apiVersion: "v1", kind: "Binding", metadata, target },
      "pods/binding",
    );

    expect((object as Binding).metadata.labels).toEqual({
      "topology.kubernetes.io/zone": "z",
      "topology.kubernetes.io/region": "r",
    });
  });

  test("adds the labels to a pod created with a node name, but keeps the pod's own", async () => {
    const own = { labels: { "topology.kubernetes.io/zone": "mine" } };

    const { object } = await create(await start(), pod({ nodeName: "n1" }, own));

    expect(object.metadata.labels).toEqual({
      "topology.kubernetes.io/zone": "mine",
      "topology.kubernetes.io/region": "r",
    });
  });
});

describe("NodeDeclaredFeatureValidator", () => {
  const sized = (cpu: string, init: string): Written =>
    pod(
      {
        nodeName: "n1",
        resources: { requests: { cpu } },
        initContainers: [
          { name: "i", image: "x", resources: { requests: { cpu: init } } },
          { name: "s", image: "x", restartPolicy: "Always", resources: { requests: { cpu } } },
        ],
      },
      { generation: Number(cpu) + Number(init) },
    );
  const resize = async (object: Written, declaredFeatures: readonly string[]): Promise<string> => {
    const fixture = new AdmissionFixture();
    const status = { allocatable: { cpu: "9" }, declaredFeatures };
    const metadata = { name: "n1", labels: { "kubernetes.io/os": "linux" } };
    await fixture.put("nodes", { apiVersion: "v1", kind: "Node", metadata, spec: {}, status });
    const write = {
      operation: "UPDATE",
      resource: "pods/resize",
      object,
      previous: sized("1", "1"),
    } as const;
    return (await fixture.attempt(write)).refusal;
  };

  test("refuses a resize that needs an undeclared feature", async () => {
    expect(await resize(sized("2", "2"), ["InPlacePodVerticalScalingInitContainers"])).toBe(
      'pods "p" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling which are not available on node "n1"',
    );
    expect(await resize(sized("1", "2"), [])).toBe(
      'pods "p" is forbidden: pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "n1"',
    );
  });

  test("allows a resize that needs no feature, or only declared ones", async () => {
    const both = ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"];

    expect(await resize(sized("1", "1"), [])).toBe("");
    expect(await resize(sized("2", "2"), both)).toBe("");
  });
});

describe("PodResizeValidator", () => {
  const asking = (cpu: string, generation: number): Written =>
    pod(
      {
        nodeName: "n1",
        containers: [{ name: "a", image: "x", resources: { requests: { cpu, memory: "1Gi" } } }],
      },
      { generation },
    );
  const resize = async (cpu: string, labels: object): Promise<string> => {
    const fixture = new AdmissionFixture();
    const status = { allocatable: { cpu: "2", memory: "4Gi" } };
    await fixture.put("nodes", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n1", labels },
      spec: {},
      status,
    });
    const previous = asking("1", 1);
    const write = { operation: "UPDATE", resource: "pods/resize", object: asking(cpu, 2), previous } as const;
    return (await fixture.attempt(write)).refusal;
  };
  const linux = { "kubernetes.io/os": "linux" };

  test("limits a resize to the node's allocatable resources", async () => {
    expect(await resize("2", linux)).toBe("");
    expect(await resize("3", linux)).toBe(
      'pods "p" is forbidden: Node didn\'t have enough allocatable resources: cpu, requested: 3000, allocatable: 2000',
    );
  });

  test("allows a resize on Linux nodes only", async () => {
    expect(await resize("2", { "kubernetes.io/os": "windows" })).toBe(
      'pods "p" is forbidden: pod resize is only supported on linux nodes, node "n1" is "windows"',
    );
  });
});

test("only one priority class is the default", async () => {
  const fixture = new AdmissionFixture();
  const priority = (name: string): Written => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value: 5,
    globalDefault: true,
  });
  const resource = "priorityclasses.scheduling.k8s.io";
  await fixture.put(resource, priority("usual"));
  const update = {
    operation: "UPDATE",
    resource,
    object: priority("usual"),
    previous: priority("usual"),
  } as const;

  expect((await create(fixture, priority("other"), resource)).refusal).toBe(
    'priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
  );
  expect((await fixture.attempt(update)).refusal).toBe("");
});
