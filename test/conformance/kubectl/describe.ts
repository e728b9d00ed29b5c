import { expect, test } from "vitest";
import type { Suite } from "./suite.ts";

export function describeClaims({ namespace, since }: Suite): void {
  test("a ConfigMap shows its data", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c", "--from-literal=a=1");

    const text = await kubectl.ok("describe", "configmap", "c");

    expect(text).toMatch(
      /^Name: +c\nNamespace: +test-\d+\nLabels: +<none>\nAnnotations: +<none>\n\nData\n====\n/,
    );
    expect(text).toMatch(/\na:\n----\n1\n/);
    expect(text).toMatch(/\nEvents: +<none>\n$/);
  });

  test("a Pod that has no node is pending, with the quality of service of its resources", async () => {
    const kubectl = namespace();
    await kubectl.ok("run", "p", "--image=nginx", "--port=80", "--env=X=Y", "--labels=a=b");

    const text = await kubectl.ok("describe", "pod", "p");

    for (const line of [
      /^Node: +<none>$/m,
      /^Labels: +a=b$/m,
      /^Status: +Pending$/m,
      /^ +Image: +nginx$/m,
      /^ +Port: +80\/TCP$/m,
      /^ +X: +Y$/m,
      /^QoS Class: +BestEffort$/m,
      /^Events: +<none>$/m,
    ])
      expect(text).toMatch(line);
  });

  test("a Pod shows the events about it", async () => {
    const kubectl = namespace();
    await kubectl.ok("run", "p", "--image=nginx");
    const uid = await kubectl.ok("get", "pod", "p", "-o", "jsonpath={.metadata.uid}");
    const event = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "p.1" },
      involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: kubectl.namespace, uid },
      reason: "Seen",
      message: "somebody looked at it",
      type: "Normal",
      source: { component: "tester" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      count: 1,
    };
    await kubectl.ok("create", "-f", kubectl.file("event.json", event));

    expect(await kubectl.ok("describe", "pod", "p")).toMatch(
      /\n +Normal +Seen +\S+ +tester +somebody looked at it\n$/,
    );
  });

  test("a Deployment shows what its defaults are", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "deployment", "web", "--image=nginx:1", "--replicas=2");

    const text = await kubectl.ok("describe", "deployment", "web");

    for (const line of [
      /^Selector: +app=web$/m,
      /^Replicas: +2 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable$/m,
      /^StrategyType: +RollingUpdate$/m,
      /^MinReadySeconds: +0$/m,
      /^RollingUpdateStrategy: +25% max unavailable, 25% max surge$/m,
      /^ +Image: +nginx:1$/m,
    ])
      expect(text).toMatch(line);
  });

  since(21)("a Service shows the address it got", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "service", "clusterip", "s", "--tcp=80:8080");

    const text = await kubectl.ok("describe", "service", "s");

    for (const line of [
      /^Selector: +app=s$/m,
      /^Type: +ClusterIP$/m,
      /^IP Families: +IPv4$/m,
      /^IP: +10\.\d+\.\d+\.\d+$/m,
      /^Port: +80-8080 {2}80\/TCP$/m,
      /^TargetPort: +8080\/TCP$/m,
      /^Endpoints: *(<none>)?$/m,
      /^Session Affinity: +None$/m,
    ])
      expect(text).toMatch(line);
  });

  test("a Namespace is active and carries its name as a label", async () => {
    const kubectl = namespace();

    const text = await kubectl.ok("describe", "namespace", kubectl.namespace);

    expect(text).toMatch(new RegExp(`^Labels: +kubernetes.io/metadata.name=${kubectl.namespace}$`, "m"));
    expect(text).toMatch(/^Status: +Active\n\nNo resource quota\.\n\nNo LimitRange resource\.\n$/m);
  });

  test("what is not there is an error", async () => {
    expect(await namespace().refused("describe", "pod", "none")).toBe(
      'Error from server (NotFound): pods "none" not found\n',
    );
  });
}
