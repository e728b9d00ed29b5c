/** Pod Security Standards with the real kubectl: refusals and warnings. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { describePeer } from "../peers.ts";
import type { Kubectl } from "./kubectl/kubectl.ts";
import { Session } from "./kubectl/session.ts";

/** The server refuses pods without a service account. */
const ACCOUNTS = ["serviceaccount-controller"];
const ENFORCE = "pod-security.kubernetes.io/enforce";

describePeer("kubectl", "kubectl", (path) => {
  let session: Session;
  beforeAll(async () => {
    session = await Session.start(path, { loops: ACCOUNTS, nodes: 0 });
  });
  afterAll(() => session[Symbol.asyncDispose]());

  function label(kubectl: Kubectl, ...args: readonly string[]): ReturnType<Kubectl["run"]> {
    return kubectl.run("label", "namespace", kubectl.namespace, "--overwrite", ...args);
  }

  const OPEN = (name: string): string =>
    [
      `allowPrivilegeEscalation != false (container "${name}" must set securityContext.allowPrivilegeEscalation=false)`,
      `unrestricted capabilities (container "${name}" must set securityContext.capabilities.drop=["ALL"])`,
      `runAsNonRoot != true (pod or container "${name}" must set securityContext.runAsNonRoot=true)`,
      `seccompProfile (pod or container "${name}" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
    ].join(", ");

  test("a pod that is too free is not run", async () => {
    const kubectl = session.namespace();
    await label(kubectl, `${ENFORCE}=restricted`);

    const { code, stderr } = await kubectl.run("run", "web", "--image=web:1");

    expect(code).toBe(1);
    expect(stderr).toBe(
      `Error from server (Forbidden): pods "web" is forbidden: violates PodSecurity "restricted:latest": ${OPEN("web")}\n`,
    );
  });

  test("a pod that gives up what it does not need is run", async () => {
    const kubectl = session.namespace();
    await label(kubectl, `${ENFORCE}=restricted`);
    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
    const spec = {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [{ name: "web", image: "web:1", securityContext }],
    };

    const overrides = JSON.stringify({ apiVersion: "v1", spec });

    expect(await kubectl.ok("run", "web", "--image=web:1", `--overrides=${overrides}`)).toBe(
      "pod/web created\n",
    );
  });

  test("a namespace tells beforehand which of its pods would not be let in", async () => {
    const kubectl = session.namespace();
    await kubectl.ok("run", "web", "--image=web:1");
    await kubectl.ok("run", "api", "--image=web:1");

    const { code, stdout, stderr } = await label(kubectl, `${ENFORCE}=restricted`, "--dry-run=server");

    expect(code).toBe(0);
    expect(stdout).toBe(`namespace/${kubectl.namespace} labeled (server dry run)\n`);
    expect(stderr).toBe(
      `Warning: existing pods in namespace "${kubectl.namespace}" violate the new PodSecurity enforce level "restricted:latest"\n` +
        "Warning: api (and 1 other pod): allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile\n",
    );
  });

  test("a namespace is refused a level that there is not", async () => {
    const kubectl = session.namespace();

    const { code, stderr } = await label(kubectl, `${ENFORCE}=strict`);

    expect(code).toBe(1);
    expect(stderr).toBe(
      `The Namespace "${kubectl.namespace}" is invalid: metadata.labels[${ENFORCE}]: Invalid value: "strict": must be one of privileged, baseline, restricted\n`,
    );
  });

  test("a deployment is warned about and made", async () => {
    const kubectl = session.namespace();
    await label(
      kubectl,
      "pod-security.kubernetes.io/warn=restricted",
      "pod-security.kubernetes.io/warn-version=v1.36",
    );

    const { code, stderr } = await kubectl.run("create", "deployment", "web", "--image=web:1");

    expect(code).toBe(0);
    expect(stderr).toBe(`Warning: would violate PodSecurity "restricted:v1.36": ${OPEN("web")}\n`);
  });

  test("a container for debugging keeps the level too", async () => {
    const kubectl = session.namespace();
    await kubectl.ok("run", "web", "--image=web:1");
    await label(kubectl, `${ENFORCE}=baseline`);

    const refused = await kubectl.run("debug", "web", "--image=shell", "--profile=sysadmin", "--container=d");
    const allowed = await kubectl.run("debug", "web", "--image=shell", "--profile=baseline", "--container=d");

    expect(refused.stderr).toContain(
      'privileged (container "d" must not set securityContext.privileged=true)',
    );
    expect(allowed.code).toBe(0);
  });
});
