/** Tests each check of the Pod Security Standards with pods that it allows and pods that it refuses. */
import { describe, expect, test } from "vitest";
import type { PodSpec } from "../../../../../api/generated/types/core-v1.ts";
import type { PodLike } from "./check.ts";
import { detailText, violationsOf } from "./evaluation.ts";
import { LATEST, findVersion } from "./policy.ts";
import type { Level } from "./policy.ts";

interface Parts {
  readonly spec?: object;
  readonly container?: object;
  readonly context?: object;
  readonly podContext?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A pod that the restricted level allows, overridden by the given parts. */
function pod({ spec = {}, container = {}, context = {}, podContext = {}, annotations = {} }: Parts): PodLike {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, ...context };
  return {
    metadata: { annotations },
    spec: {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" }, ...podContext },
      containers: [{ name: "a", resources: {}, securityContext, ...container }],
      ...spec,
    } as PodSpec,
  };
}

function verdict(level: Level, parts: Parts, version = "latest"): string {
  return detailText(violationsOf(pod(parts), { level, version: findVersion(version) ?? LATEST }));
}

interface Case {
  readonly id: string;
  readonly good: Parts;
  readonly bad: Parts;
  readonly says: string;
}

const BASELINE: readonly Case[] = [
  {
    id: "AppArmor of the pod and a container",
    good: { podContext: { appArmorProfile: { type: "Localhost" } } },
    bad: {
      podContext: { appArmorProfile: { type: "Unconfined" } },
      context: { appArmorProfile: { type: "Unconfined" } },
    },
    says: 'forbidden AppArmor profile (pod and container "a" must not set AppArmor profile type to "Unconfined")',
  },
  {
    id: "AppArmor in an annotation",
    good: { annotations: { "container.apparmor.security.beta.kubernetes.io/a": "localhost/x" } },
    bad: { annotations: { "container.apparmor.security.beta.kubernetes.io/a": "unconfined" } },
    says: 'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
  },
  {
    id: "capabilities",
    good: { context: { capabilities: { add: ["NET_BIND_SERVICE", "CHOWN"] } } },
    bad: { context: { capabilities: { add: ["SYS_ADMIN", "NET_RAW", "CHOWN"] } } },
    says: 'non-default capabilities (container "a" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    id: "host namespaces",
    good: { spec: { hostNetwork: false } },
    bad: { spec: { hostIPC: true, hostPID: true, hostNetwork: true } },
    says: "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)",
  },
  {
    id: "hostPath volumes",
    good: { spec: { volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] } },
    bad: {
      spec: { volumes: ["v", "w"].map((name) => ({ name, hostPath: { path: "/" } })) },
    },
    says: 'hostPath volumes (volumes "v", "w")',
  },
  {
    id: "host ports",
    good: { container: { ports: [{ containerPort: 80, hostPort: 0 }] } },
    bad: { container: { ports: [{ containerPort: 80, hostPort: 8080 }] } },
    says: 'hostPort (container "a" uses hostPort 8080)',
  },
  {
    id: "hosts of probes",
    good: { container: { livenessProbe: { httpGet: { port: 80 } } } },
    bad: {
      container: {
        startupProbe: { tcpSocket: { host: "10.0.0.1", port: 1 } },
        lifecycle: { preStop: { httpGet: { host: "metadata", port: 80 } } },
      },
    },
    says: 'probe or lifecycle host (container "a" uses probe or lifecycle hosts "10.0.0.1", "metadata")',
  },
  {
    id: "privileged containers",
    good: { context: { privileged: false } },
    bad: { context: { privileged: true } },
    says: 'privileged (container "a" must not set securityContext.privileged=true)',
  },
  {
    id: "/proc",
    good: { context: { procMount: "Default" } },
    bad: { context: { procMount: "Unmasked" } },
    says: 'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  },
  {
    id: "SELinux",
    good: { context: { seLinuxOptions: { type: "container_engine_t", level: "s0" } } },
    bad: {
      podContext: { seLinuxOptions: { type: "spc_t" } },
      context: { seLinuxOptions: { user: "u", role: "r" } },
    },
    says: 'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
  },
  {
    id: "seccomp",
    good: { context: { seccompProfile: { type: "Localhost", localhostProfile: "x" } } },
    bad: { context: { seccompProfile: { type: "Unconfined" } } },
    says: 'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    id: "sysctls",
    good: { podContext: { sysctls: [{ name: "net.ipv4.tcp_rmem", value: "1 2 3" }] } },
    bad: { podContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } },
    says: "forbidden sysctls (kernel.msgmax)",
  },
  {
    id: "processes of a Windows host",
    good: { podContext: { windowsOptions: { hostProcess: false } } },
    bad: { podContext: { windowsOptions: { hostProcess: true } } },
    says: "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)",
  },
];

const RESTRICTED: readonly Case[] = [
  {
    id: "privilege escalation",
    good: {},
    bad: { context: { allowPrivilegeEscalation: undefined } },
    says: 'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false)',
  },
  {
    id: "capabilities",
    good: { context: { capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } } },
    bad: { context: { capabilities: { add: ["CHOWN"] } } },
    says: 'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  },
  {
    id: "/proc, also with users of its own",
    good: { spec: { hostUsers: false } },
    bad: { spec: { hostUsers: false }, context: { procMount: "Unmasked" } },
    says: 'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  },
  {
    id: "volume types",
    good: {
      spec: {
        volumes: [
          { name: "v", emptyDir: {} },
          { name: "i", image: { reference: "x" } },
        ],
      },
    },
    bad: {
      spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] },
    },
    says: 'restricted volume types (volume "v" uses restricted volume type "hostPath")',
  },
  {
    id: "root, where nobody says otherwise",
    good: { podContext: { runAsNonRoot: undefined }, context: { runAsNonRoot: true } },
    bad: { podContext: { runAsNonRoot: undefined } },
    says: 'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
  },
  {
    id: "root, where somebody asks for it",
    good: { spec: { hostUsers: false }, context: { runAsNonRoot: false } },
    bad: { context: { runAsNonRoot: false } },
    says: 'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
  },
  {
    id: "user 0",
    good: { context: { runAsUser: 1000 } },
    bad: { podContext: { runAsUser: 0 } },
    says: "runAsUser=0 (pod must not set runAsUser=0)",
  },
  {
    id: "seccomp",
    good: {
      podContext: { seccompProfile: undefined },
      context: { seccompProfile: { type: "RuntimeDefault" } },
    },
    bad: { podContext: { seccompProfile: undefined } },
    says: 'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  },
];

describe.each([
  { level: "baseline" as const, cases: BASELINE },
  { level: "restricted" as const, cases: RESTRICTED },
])("the $level level", ({ level, cases }) => {
  test.each(cases)("judges $id", ({ good, bad, says }) => {
    expect(verdict(level, good)).toBe("");
    expect(verdict(level, bad)).toBe(says);
  });
});

test("the privileged level allows every pod", () => {
  expect(verdict("privileged", { spec: { hostPID: true } })).toBe("");
});

describe("containers of all types", () => {
  const bad = { name: "b", resources: {}, securityContext: { privileged: true } };

  test.each(["initContainers", "ephemeralContainers"])("%s are checked", (list) => {
    expect(verdict("baseline", { spec: { [list]: [bad] } })).toBe(
      'privileged (container "b" must not set securityContext.privileged=true)',
    );
  });

  test("are named in the order in which they run", () => {
    const spec = { initContainers: [bad], ephemeralContainers: [{ ...bad, name: "c" }] };

    expect(verdict("baseline", { spec, context: { privileged: true } })).toBe(
      'privileged (containers "b", "a", "c" must not set securityContext.privileged=true)',
    );
  });
});

describe("versions", () => {
  test.each([
    ["v1.33", { container: { livenessProbe: { httpGet: { host: "h", port: 80 } } } }],
    ["v1.18", { context: { seccompProfile: { type: "Unconfined" } } }],
  ])("%s does not apply later checks", (version, parts) => {
    expect(verdict("baseline", parts, version)).toBe("");
    expect(verdict("baseline", parts)).not.toBe("");
  });

  test.each([
    ["v1.31", { podContext: { sysctls: [{ name: "net.ipv4.tcp_wmem", value: "1" }] } }],
    ["v1.30", { context: { seLinuxOptions: { type: "container_engine_t" } } }],
    ["v1.34", { spec: { hostUsers: false }, context: { procMount: "Unmasked" } }],
  ])("%s refuses what was allowed later", (version, parts) => {
    expect(verdict("baseline", parts, version)).not.toBe("");
    expect(verdict("baseline", parts)).toBe("");
  });

  test("before v1.19 annotations set the seccomp profile", () => {
    const annotations = { "container.seccomp.security.alpha.kubernetes.io/a": "unconfined" };

    expect(verdict("baseline", { annotations }, "v1.18")).toBe(
      'seccompProfile (forbidden annotation container.seccomp.security.alpha.kubernetes.io/a="unconfined")',
    );
    expect(verdict("restricted", { annotations }, "v1.18")).toContain("forbidden annotation");
  });

  test("Windows pods skip Linux-only checks since v1.25", () => {
    const parts = { spec: { os: { name: "windows" } }, context: { allowPrivilegeEscalation: undefined } };

    expect(verdict("restricted", parts, "v1.24")).toContain("allowPrivilegeEscalation");
    expect(verdict("restricted", parts)).toBe("");
  });

  test("baseline violations come before restricted ones, without overridden checks", () => {
    const parts = {
      spec: { hostPID: true, volumes: [{ name: "v", hostPath: { path: "/" } }] },
      context: { allowPrivilegeEscalation: true, privileged: true, capabilities: { add: ["NET_RAW"] } },
    };

    expect(verdict("restricted", parts)).toBe(
      "host namespaces (hostPID=true), " +
        'privileged (container "a" must not set securityContext.privileged=true), ' +
        'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "NET_RAW" in securityContext.capabilities.add), ' +
        'restricted volume types (volume "v" uses restricted volume type "hostPath")',
    );
  });
});
