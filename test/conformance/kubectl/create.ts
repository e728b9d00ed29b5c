import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import type { Suite } from "./suite.ts";

export function createClaims(suite: Suite): void {
  configuration(suite);
  workloads(suite);
  services(suite);
  access(suite);
  policies(suite);
  dryRuns(suite);
}

function configuration({ namespace }: Suite): void {
  test("configmap takes literals and files", async () => {
    const kubectl = namespace();
    const file = kubectl.file("settings.txt", "x=1\n");

    const said = await kubectl.ok("create", "configmap", "c", "--from-literal=a=1", `--from-file=${file}`);

    expect(said).toBe("configmap/c created\n");
    expect((await kubectl.json("get", "configmap", "c"))["data"]).toEqual({
      a: "1",
      "settings.txt": "x=1\n",
    });
  });

  test("configmap keeps bytes that are no text", async () => {
    const kubectl = namespace();
    execFileSync("/bin/sh", ["-c", `printf '\\377\\000' > ${kubectl.path("bytes.bin")}`]);

    await kubectl.ok("create", "configmap", "c", "--from-file=bytes.bin");

    expect((await kubectl.json("get", "configmap", "c"))["binaryData"]).toEqual({ "bytes.bin": "/wA=" });
  });

  test("secret generic keeps values in base64", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("create", "secret", "generic", "s", "--from-literal=p=word")).toBe(
      "secret/s created\n",
    );
    expect(await kubectl.json("get", "secret", "s")).toMatchObject({
      type: "Opaque",
      data: { p: "d29yZA==" },
    });
  });

  test("secret tls and docker-registry have their types and keys", async () => {
    const kubectl = namespace();
    const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const files = ["-keyout", kubectl.path("k.pem"), "-out", kubectl.path("c.pem"), "-subj", "/CN=x"];
    execFileSync("openssl", [...args, ...files], { stdio: "ignore" });

    await kubectl.ok("create", "secret", "tls", "t", "--cert=c.pem", "--key=k.pem");
    const login = ["--docker-username=u", "--docker-password=p", "--docker-server=r.example.com"];
    await kubectl.ok("create", "secret", "docker-registry", "d", ...login);

    const types = "jsonpath={range .items[*]}{.type} {end}";
    expect(await kubectl.ok("get", "secrets", "-o", types)).toBe(
      "kubernetes.io/dockerconfigjson kubernetes.io/tls ",
    );
    expect(Object.keys((await kubectl.json("get", "secret", "t"))["data"] ?? {})).toEqual([
      "tls.crt",
      "tls.key",
    ]);
  });

  test("a name can be used once", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c");

    expect(await kubectl.refused("create", "configmap", "c")).toMatch(
      /^(error: failed to create configmap|Error from server \(AlreadyExists\)): configmaps "c" already exists\n$/,
    );
  });
}

function workloads({ namespace, since }: Suite): void {
  test("deployment gets the defaults of its kind", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("create", "deployment", "d", "--image=nginx:1", "--port=80")).toBe(
      "deployment.apps/d created\n",
    );
    expect(await kubectl.json("get", "deployment", "d")).toMatchObject({
      metadata: { generation: 1, labels: { app: "d" } },
      spec: {
        replicas: 1,
        progressDeadlineSeconds: 600,
        revisionHistoryLimit: 10,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
        template: {
          spec: {
            containers: [
              {
                name: "nginx",
                image: "nginx:1",
                imagePullPolicy: "IfNotPresent",
                ports: [{ containerPort: 80, protocol: "TCP" }],
                terminationMessagePath: "/dev/termination-log",
              },
            ],
            restartPolicy: "Always",
            dnsPolicy: "ClusterFirst",
            terminationGracePeriodSeconds: 30,
          },
        },
      },
    });
  });

  test("job is selected by its own uid", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("create", "job", "j", "--image=busybox", "--", "echo", "hi")).toBe(
      "job.batch/j created\n",
    );
    const job = await kubectl.json("get", "job", "j");
    expect(job).toMatchObject({
      spec: {
        backoffLimit: 6,
        completions: 1,
        parallelism: 1,
        selector: { matchLabels: { "batch.kubernetes.io/controller-uid": job["metadata"]?.["uid"] } },
        template: {
          metadata: { labels: { "batch.kubernetes.io/job-name": "j", "job-name": "j" } },
          spec: { containers: [{ command: ["echo", "hi"] }], restartPolicy: "Never" },
        },
      },
    });
  });

  since(21)("cronjob keeps its schedule, and a job can be made from it", async () => {
    const kubectl = namespace();
    const schedule = "*/5 * * * *";

    expect(await kubectl.ok("create", "cronjob", "c", "--image=i", `--schedule=${schedule}`)).toBe(
      "cronjob.batch/c created\n",
    );
    expect(await kubectl.ok("create", "job", "now", "--from=cronjob/c")).toBe("job.batch/now created\n");

    expect((await kubectl.json("get", "cronjob", "c"))["spec"]).toMatchObject({
      schedule,
      concurrencyPolicy: "Allow",
      failedJobsHistoryLimit: 1,
      successfulJobsHistoryLimit: 3,
      suspend: false,
    });
    expect((await kubectl.json("get", "job", "now"))["metadata"]?.["ownerReferences"]).toMatchObject([
      { apiVersion: "batch/v1", kind: "CronJob", name: "c" },
    ]);
  });
}

function services({ namespace }: Suite): void {
  test("service clusterip gets an address, or none when none is wanted", async () => {
    const kubectl = namespace();

    await kubectl.ok("create", "service", "clusterip", "a", "--tcp=80:8080");
    await kubectl.ok("create", "service", "clusterip", "b", "--tcp=80", "--clusterip=None");

    expect((await kubectl.json("get", "service", "a"))["spec"]).toMatchObject({
      type: "ClusterIP",
      clusterIP: expect.stringMatching(/^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/) as unknown,
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [{ name: "80-8080", port: 80, protocol: "TCP", targetPort: 8080 }],
      selector: { app: "a" },
      sessionAffinity: "None",
    });
    expect((await kubectl.json("get", "service", "b"))["spec"]).toMatchObject({ clusterIP: "None" });
  });

  test("service nodeport gets the port that is asked for, once", async () => {
    const kubectl = namespace();

    await kubectl.ok("create", "service", "nodeport", "a", "--tcp=80:8080", "--node-port=30080");

    const ports = "jsonpath={.spec.ports[0].nodePort}";
    expect(await kubectl.ok("get", "service", "a", "-o", ports)).toBe("30080");
    const again = ["create", "service", "nodeport", "b", "--tcp=80:8080", "--node-port=30080"];
    expect(await kubectl.refused(...again)).toBe(
      'error: failed to create NodePort service: Service "b" is invalid: spec.ports[0].nodePort: ' +
        "Invalid value: 30080: provided port is already allocated\n",
    );
  });

  test("service loadbalancer gets a port of the range and waits for its balancer", async () => {
    const kubectl = namespace();

    await kubectl.ok("create", "service", "loadbalancer", "a", "--tcp=80:80");

    expect(await kubectl.ok("get", "service", "a")).toMatch(
      /\na +LoadBalancer +10\.\S+ +<pending> +80:3[0-2]\d{3}\/TCP /,
    );
    expect(await kubectl.json("get", "service", "a")).toMatchObject({
      spec: { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: "Cluster" },
      status: { loadBalancer: {} },
    });
  });

  test("service externalname has no address", async () => {
    const kubectl = namespace();

    await kubectl.ok("create", "service", "externalname", "a", "--external-name=example.com");

    expect(await kubectl.ok("get", "service", "a")).toMatch(
      /\na +ExternalName +<none> +example\.com +<none> /,
    );
  });

  test("ingress has its rules, class and secret", async () => {
    const kubectl = namespace();

    expect(
      await kubectl.ok("create", "ingress", "i", "--class=nginx", "--rule=foo.com/bar=svc:8080,tls=cert"),
    ).toBe("ingress.networking.k8s.io/i created\n");
    expect((await kubectl.json("get", "ingress", "i"))["spec"]).toEqual({
      ingressClassName: "nginx",
      rules: [
        {
          host: "foo.com",
          http: {
            paths: [
              {
                path: "/bar",
                pathType: "Exact",
                backend: { service: { name: "svc", port: { number: 8080 } } },
              },
            ],
          },
        },
      ],
      tls: [{ hosts: ["foo.com"], secretName: "cert" }],
    });
  });
}

function access({ namespace, since }: Suite): void {
  test("role and rolebinding", async () => {
    const kubectl = namespace();

    expect(
      await kubectl.ok("create", "role", "r", "--verb=get,list", "--resource=pods,deployments.apps"),
    ).toBe("role.rbac.authorization.k8s.io/r created\n");
    await kubectl.ok("create", "rolebinding", "b", "--role=r", `--serviceaccount=${kubectl.namespace}:sa`);

    expect((await kubectl.json("get", "role", "r"))["rules"]).toEqual([
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] },
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list"] },
    ]);
    expect(await kubectl.ok("get", "rolebinding", "b", "-o", "wide")).toMatch(
      new RegExp(`\\nb +Role/r +\\S+ +${kubectl.namespace}/sa\\n$`),
    );
  });

  test("clusterrole and clusterrolebinding", async () => {
    const kubectl = namespace();
    const name = `${kubectl.namespace}-role`;

    await kubectl.ok("create", "clusterrole", name, "--verb=get", "--non-resource-url=/metrics");
    const bound = await kubectl.ok(
      "create",
      "clusterrolebinding",
      name,
      `--clusterrole=${name}`,
      "--user=jane",
    );

    expect(bound).toBe(`clusterrolebinding.rbac.authorization.k8s.io/${name} created\n`);
    expect((await kubectl.json("get", "clusterrole", name))["rules"]).toEqual([
      { nonResourceURLs: ["/metrics"], verbs: ["get"] },
    ]);
    expect((await kubectl.json("get", "clusterrolebinding", name))["subjects"]).toEqual([
      { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" },
    ]);
  });

  since(24)("token is made for a service account, for its audience and time", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "serviceaccount", "robot");

    const token = await kubectl.ok("create", "token", "robot", "--audience=x", "--duration=30m");

    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
      iat: number;
      exp: number;
    };
    expect(claims).toMatchObject({
      aud: ["x"],
      sub: `system:serviceaccount:${kubectl.namespace}:robot`,
      "kubernetes.io": { namespace: kubectl.namespace, serviceaccount: { name: "robot" } },
    });
    expect(claims.exp - claims.iat).toBe(1800);
    expect(await kubectl.refused("create", "token", "nobody")).toContain(
      'serviceaccounts "nobody" not found',
    );
  });
}

function policies({ namespace, since }: Suite): void {
  test("quota keeps its limits", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("create", "quota", "q", "--hard=pods=3,requests.cpu=0.5")).toBe(
      "resourcequota/q created\n",
    );
    expect((await kubectl.json("get", "quota", "q"))["spec"]).toEqual({
      hard: { pods: "3", "requests.cpu": "500m" },
    });
  });

  since(21)("poddisruptionbudget keeps selector and minimum", async () => {
    const kubectl = namespace();

    expect(await kubectl.ok("create", "pdb", "p", "--selector=app=web", "--min-available=1")).toBe(
      "poddisruptionbudget.policy/p created\n",
    );
    expect((await kubectl.json("get", "pdb", "p"))["spec"]).toEqual({
      minAvailable: 1,
      selector: { matchLabels: { app: "web" } },
    });
  });

  test("priorityclass keeps its value", async () => {
    const kubectl = namespace();
    const name = `${kubectl.namespace}-class`;

    expect(await kubectl.ok("create", "priorityclass", name, "--value=1000", "--description=mine")).toBe(
      `priorityclass.scheduling.k8s.io/${name} created\n`,
    );
    expect(await kubectl.json("get", "priorityclass", name)).toMatchObject({
      value: 1000,
      description: "mine",
      preemptionPolicy: "PreemptLowerPriority",
    });
  });

  test("namespace begins active, with its finalizer and label", async () => {
    const kubectl = namespace();
    const name = `${kubectl.namespace}-other`;

    expect(await kubectl.ok("create", "namespace", name)).toBe(`namespace/${name} created\n`);
    expect(await kubectl.json("get", "namespace", name)).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });
}

function dryRuns({ namespace }: Suite): void {
  test("--dry-run=server shows what would be, and nothing is", async () => {
    const kubectl = namespace();

    const shown = await kubectl.json("create", "deployment", "d", "--image=i", "--dry-run=server");

    expect(shown).toMatchObject({ metadata: { uid: expect.any(String) as unknown }, spec: { replicas: 1 } });
    expect(await kubectl.ok("get", "deployments", "-o", "name")).toBe("");
  });

  test("a dry run says so, and is refused like the real thing", async () => {
    const kubectl = namespace();
    await kubectl.ok("create", "configmap", "c");

    expect(await kubectl.ok("create", "configmap", "d", "--dry-run=server")).toBe(
      "configmap/d created (server dry run)\n",
    );
    expect(await kubectl.refused("create", "configmap", "c", "--dry-run=server")).toContain(
      'configmaps "c" already exists',
    );
  });
}
