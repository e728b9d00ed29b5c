import { expect, test } from "vitest";
import { table } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

export function serverClaims(suite: Suite): void {
  explanations(suite);
  discovery(suite);
  identity(suite);
  rawPaths(suite);
}

function explanations({ namespace, since }: Suite): void {
  since(27)("explain tells of a kind and its fields", async () => {
    const text = await namespace().ok("explain", "deployment");

    expect(text).toMatch(/^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nDESCRIPTION:\n +Deployment /);
    expect(text).toMatch(/\n {2}spec\t<DeploymentSpec>\n {4}\S+/);
  });

  since(27)("explain goes down a path", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("explain", "deployment.spec.replicas")).toMatch(
      /\nFIELD: replicas <integer>\n+DESCRIPTION:\n +\S+/,
    );
    expect(await kubectl.refused("explain", "pod.spec.none")).toContain('field "none" does not exist');
  });

  since(27).each(["deployment.spec.strategy", "pod.spec", "service.spec", "job.status", "crd.spec.versions"])(
    "explain %s describes every field",
    async (path) => {
      const text = await namespace().ok("explain", path);
      const fields = [...text.matchAll(/^ {2}(\S+)\t<.*\n(?: {2}enum: .*\n)*(.*)$/gm)];

      expect(fields.length).toBeGreaterThan(1);
      expect(fields.filter(([, name = "", line]) => line?.startsWith(`    ${name} `) !== true)).toEqual([]);
    },
  );

  since(27)("explain --recursive shows the whole tree", async () => {
    const text = await namespace().ok("explain", "pod", "--recursive");

    expect(text).toMatch(/\n {2}spec\t<PodSpec>\n[^]*\n {4}containers\t<\[\]Container> -required-\n/);
    expect(text).toMatch(/\n {6}imagePullPolicy\t<string>\n/);
  });

  since(27)("explain reads the older document too", async () => {
    const text = await namespace().ok("explain", "service", "--output=plaintext-openapiv2");

    expect(text).toMatch(/^KIND: +Service\nVERSION: +v1\n/);
  });
}

function discovery({ namespace }: Suite): void {
  test("api-resources lists what is served, with short names and scope", async () => {
    const rows = table(await namespace().ok("api-resources"));

    expect(rows[0]).toEqual(["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]);
    for (const row of [
      ["configmaps", "cm", "v1", "true", "ConfigMap"],
      ["nodes", "no", "v1", "false", "Node"],
      ["deployments", "deploy", "apps/v1", "true", "Deployment"],
      ["horizontalpodautoscalers", "hpa", "autoscaling/v2", "true", "HorizontalPodAutoscaler"],
      [
        "customresourcedefinitions",
        "crd,crds",
        "apiextensions.k8s.io/v1",
        "false",
        "CustomResourceDefinition",
      ],
    ])
      expect(rows).toContainEqual(row);
  });

  test("api-resources can be narrowed to a group, a scope or verbs", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("api-resources", "--api-group=apps", "-o", "name")).toBe(
      ["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"]
        .map((name) => `${name}.apps\n`)
        .join(""),
    );
    expect(await kubectl.ok("api-resources", "--namespaced=false", "-o", "name")).not.toContain("pods\n");
    expect(await kubectl.ok("api-resources", "--verbs=list", "-o", "name")).not.toContain("bindings\n");
  });

  test("what is deprecated is served with a warning", async () => {
    const { code, stderr } = await namespace().run("get", "endpoints", "-A");

    expect([code, stderr]).toEqual([
      0,
      "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n",
    ]);
  });

  test("component statuses tell how the store is", async () => {
    const { stdout } = await namespace().run("get", "componentstatuses");

    expect(stdout).toMatch(/^NAME +STATUS +MESSAGE +ERROR *\netcd-0 +Healthy +ok/);
  });

  test("api-versions are the stable ones", async () => {
    const versions = (await namespace().ok("api-versions")).trimEnd().split("\n");

    expect(versions).toEqual(expect.arrayContaining(["apps/v1", "autoscaling/v1", "autoscaling/v2", "v1"]));
    // The metrics API has no stable version.
    const others = versions.filter((version) => version !== "metrics.k8s.io/v1beta1");
    for (const version of others) expect(version).not.toMatch(/alpha|beta/);
  });
}

function identity({ namespace, since }: Suite): void {
  test("version tells both versions", async () => {
    const { serverVersion } = await namespace().json("version");

    expect(serverVersion).toMatchObject({ major: "1", minor: "36", gitVersion: "v1.36.4+setpoint" });
  });

  test("cluster-info tells where the control plane is", async () => {
    expect(await namespace().ok("cluster-info")).toMatch(
      /Kubernetes (control plane|master).* is running at .*https:\/\/127\.0\.0\.1:\d+/,
    );
  });

  test("config holds one context, and no secret is shown", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("config", "current-context")).toBe("setpoint\n");
    expect(await kubectl.json("config", "view")).toMatchObject({
      kind: "Config",
      clusters: [{ cluster: { server: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/) as unknown } }],
      users: [{ user: { "client-key-data": expect.stringMatching(/OMITTED|REDACTED/) as unknown } }],
    });
  });

  since(28)("auth whoami tells who the certificate says", async () => {
    expect(await namespace().json("auth", "whoami")).toMatchObject({
      kind: "SelfSubjectReview",
      status: {
        userInfo: {
          username: "kubernetes-admin",
          groups: expect.arrayContaining(["system:authenticated"]) as unknown,
        },
      },
    });
  });

  test("auth can-i says that the administrator may do everything", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("auth", "can-i", "create", "pods")).toBe("yes\n");
    expect(await kubectl.ok("auth", "can-i", "--list")).toMatch(/\n\*\.\* +\[\] +\[\] +\[\*\]\n/);
  });
}

function rawPaths({ namespace }: Suite): void {
  test.each([
    ["/healthz"],
    ["/livez"],
    ["/readyz"],
    ["/readyz/ping"],
    ["/readyz/poststarthook/rbac/bootstrap-roles"],
  ])("%s is ok", async (path) => {
    expect(await namespace().ok("get", "--raw", path)).toBe("ok");
  });

  test("/readyz?verbose names its checks", async () => {
    const text = await namespace().ok("get", "--raw", "/readyz?verbose");

    expect(text).toMatch(/^\[\+\]ping ok\n[^]*\[\+\]etcd ok\n[^]*readyz check passed\n$/);
  });

  test("/metrics counts requests under the names people alert on", async () => {
    const kubectl = namespace();
    await kubectl.ok("get", "configmaps");

    expect(await kubectl.ok("get", "--raw", "/metrics")).toMatch(
      /^apiserver_request_total\{code="200",[^}]*resource="configmaps",[^}]*verb="LIST"[^}]*\} \d+$/m,
    );
  });

  test("/openapi/v3 leads to a document of each group version", async () => {
    const kubectl = namespace();

    const { paths } = JSON.parse(await kubectl.ok("get", "--raw", "/openapi/v3")) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    const url = paths["apis/apps/v1"]?.serverRelativeURL ?? "";

    expect(url).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/);
    expect(await kubectl.ok("get", "--raw", url)).toContain("io.k8s.api.apps.v1.Deployment");
  });

  test("a path that leads nowhere is not found", async () => {
    expect(await namespace().refused("get", "--raw", "/none")).toBe(
      "Error from server (NotFound): the server could not find the requested resource\n",
    );
  });
}
