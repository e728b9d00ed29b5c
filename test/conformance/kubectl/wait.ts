import { expect, test } from "vitest";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

const READY = { status: { conditions: [{ type: "Ready", status: "True" }] } };

async function withPod(kubectl: Kubectl): Promise<Kubectl> {
  await kubectl.ok("run", "p", "--image=i");
  return kubectl;
}

export function waitClaims(suite: Suite): void {
  waits(suite);
  events(suite);
}

function waits({ namespace, since }: Suite): void {
  since(24)("wait --for=condition ends when the condition is there", async () => {
    const kubectl = await withPod(namespace());

    const waiting = kubectl.ok("wait", "--for=condition=Ready", "pod/p", "--timeout=15s");
    const patch = ["--subresource=status", "--type=merge", "-p", JSON.stringify(READY)];
    await kubectl.ok("patch", "pod", "p", ...patch);

    expect(await waiting).toBe("pod/p condition met\n");
  });

  since(23)("wait --for=jsonpath ends when a field has a value", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c", "--from-literal=k=1");

    const waiting = kubectl.ok("wait", "--for=jsonpath={.data.k}=2", "configmap/c", "--timeout=15s");
    await kubectl.ok("patch", "configmap", "c", "-p", '{"data":{"k":"2"}}');

    expect(await waiting).toBe("configmap/c condition met\n");
  });

  since(24)("wait --for=delete ends when the object is gone", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c");

    const waiting = kubectl.run("wait", "--for=delete", "configmap/c", "--timeout=15s");
    await kubectl.ok("delete", "configmap", "c");

    expect((await waiting).code).toBe(0);
  });

  test("wait gives up after its time", async () => {
    const kubectl = await withPod(namespace());

    expect(await kubectl.refused("wait", "--for=condition=Ready", "pod/p", "--timeout=100ms")).toBe(
      "error: timed out waiting for the condition on pods/p\n",
    );
  });
}

function events({ namespace, since }: Suite): void {
  const event = (kubectl: Kubectl): string =>
    kubectl.file("event.json", {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e" },
      involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: kubectl.namespace },
      reason: "Tested",
      message: "it works",
      type: "Warning",
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      count: 2,
    });

  since(26)("events shows what happened, to one object if asked", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "-f", event(kubectl));

    expect(await kubectl.ok("events")).toMatch(
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\S+ \(x2 over \S+\) +Warning +Tested +Pod\/p +it works\n$/,
    );
    expect(await kubectl.ok("events", "--for", "pod/p", "--no-headers")).toContain("it works");
    const { stderr } = await kubectl.run("events", "--types=Normal");
    expect(stderr).toBe(`No events found in ${kubectl.namespace} namespace.\n`);
  });

  test("get events shows and selects them, in both groups", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "-f", event(kubectl));

    expect(await kubectl.ok("get", "events", "--field-selector", "reason=Tested")).toMatch(
      /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n\S+ +Warning +Tested +pod\/p +it works\n$/,
    );
    expect(await kubectl.json("get", "events.v1.events.k8s.io", "e")).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      note: "it works",
      regarding: { kind: "Pod", name: "p" },
      deprecatedCount: 2,
    });
  });
}
