import { describe, expect, test } from "vitest";
import type { ReadyEvent } from "../cluster/cluster-event.ts";
import { argumentWords } from "./background.ts";
import { eventText, summaryText, type Shell } from "./event-text.ts";
import { programCall } from "./program-call.ts";

const SHELL: Shell = {
  homeDir: "/home/jo",
  call: "setpoint",
  hasKubectl: true,
  demoManifest: "docs/learn/demo.yaml",
  kubeconfig: undefined,
  paint: (text) => text,
};
const FORM = { isWhole: true, isInBackground: false, runsPrograms: false };
const READY: ReadyEvent = {
  event: "ready",
  name: "setpoint",
  server: "https://127.0.0.1:6443",
  kubeconfig: "/home/jo/.setpoint/kubeconfig",
  context: { name: "setpoint", file: "/home/jo/.kube/config", isCurrent: true },
  store: "file",
  dataDir: "/home/jo/.setpoint",
  revision: 7,
  nodes: 3,
};

describe("the text of a start", () => {
  test("has a line for each phase, with its duration", () => {
    const store = { store: "file", dataDir: "/home/jo/.setpoint", objects: 1204 } as const;
    const phases = [
      { event: "phase", phase: "store", durationMs: 80, ...store },
      { event: "phase", phase: "api", durationMs: 320, server: "https://127.0.0.1:6443" },
      { event: "phase", phase: "nodes", durationMs: 940, nodes: 3, hasMachine: false },
    ] as const;

    expect(phases.map((event) => eventText(event, FORM, SHELL)).join("")).toBe(
      "✔ store opened     0.1 s   ~/.setpoint (file, 1,204 objects)\n" +
        "✔ API serving      0.3 s   https://127.0.0.1:6443\n" +
        "✔ 3 nodes ready    0.9 s   simulated\n",
    );
  });

  test.each([
    [1, "✔ 1 node ready     0.9 s   this machine\n"],
    [4, "✔ 4 nodes ready    0.9 s   3 simulated, and this machine\n"],
  ])("says that this machine is one of %i nodes", (nodes, text) => {
    const event = { event: "phase", phase: "nodes", durationMs: 940, nodes, hasMachine: true } as const;

    expect(eventText(event, FORM, SHELL)).toBe(text);
  });

  test.each([
    [{}, "Setpoint has stopped.\n"],
    [{ processPods: "ended" } as const, "Setpoint has stopped, and ended its process pods.\n"],
    [
      { processPods: "left running" } as const,
      "Setpoint has stopped. Its process pods run on, and the next start takes them over.\n",
    ],
  ])("says at the end what became of process pods: %j", (pods, text) => {
    expect(eventText({ event: "stopped", ...pods }, FORM, SHELL)).toBe(text);
  });

  test("ends with three commands, and where to go on", () => {
    expect(eventText(READY, FORM, SHELL)).toBe(
      `Setpoint 0.1.0 is ready · Kubernetes v1.36 · context "setpoint" in ~/.kube/config

  kubectl create deployment demo --image=nginx --replicas=3
  kubectl delete pod -l app=demo
  setpoint status

Ctrl-C ends it · setpoint up -d runs it in the background · logs in ~/.setpoint/logs
`,
    );
  });

  test("says that pods stay Pending without nodes, and how to add some", () => {
    const phase = { event: "phase", phase: "nodes", durationMs: 10, nodes: 0, hasMachine: false } as const;

    expect(eventText(phase, FORM, SHELL)).toBe("✔ no nodes         0.0 s   pods stay Pending\n");
    expect(eventText({ ...READY, nodes: 0 }, FORM, SHELL)).toContain(
      "  setpoint agent --kubeconfig ~/.setpoint/kubeconfig\n  setpoint status\n",
    );
  });

  test("suggests a program that every machine has where pods are processes", () => {
    expect(eventText(READY, { ...FORM, runsPrograms: true }, SHELL)).toContain(
      "  kubectl create deployment demo --image=none --replicas=3 -- sleep 1000\n",
    );
  });

  test("names the context when it is not the current one, and the cluster when it has a name", () => {
    const text = eventText(
      { ...READY, name: "dev", context: { name: "dev", file: "/f", isCurrent: false } },
      FORM,
      SHELL,
    );

    expect(text).toContain("  kubectl --context dev create deployment demo");
    expect(text).toContain("  setpoint status --name dev\n");
  });

  test("says why no context was merged, and which kubeconfig works", () => {
    const { context: _, ...others } = READY;
    const text = eventText(
      { ...others, contextProblem: "/home/jo/.kube/config is not valid YAML" },
      FORM,
      SHELL,
    );

    expect(text).toContain("The kubeconfig was left alone: /home/jo/.kube/config is not valid YAML\n");
    expect(text).toContain("  export KUBECONFIG=~/.setpoint/kubeconfig\n  kubectl create");
  });

  test("exports KUBECONFIG where kubectl reads another file", () => {
    expect(eventText(READY, FORM, { ...SHELL, kubeconfig: "/other" })).toContain("  export KUBECONFIG=~");
    expect(eventText(READY, FORM, { ...SHELL, kubeconfig: "/o:/home/jo/.kube/config" })).not.toContain(
      "export",
    );
  });

  test("names the cluster in the command that ends it", () => {
    const text = eventText({ ...READY, name: "dev" }, { ...FORM, isInBackground: true }, SHELL);

    expect(text).toContain("setpoint down --name dev ends it");
  });

  test("says where to get kubectl, and what works without it", () => {
    const text = eventText(READY, FORM, { ...SHELL, hasKubectl: false });

    expect(text).toContain("kubectl is not on PATH: https://kubernetes.io/docs/tasks/tools/ says how");
    expect(text).toContain(
      "  setpoint apply -f docs/learn/demo.yaml\n  setpoint get pods\n  setpoint status\n",
    );
    expect(text).not.toContain("kubectl create");
  });

  test("is short in the summary", () => {
    expect(summaryText({ nodes: 1, pods: 1200, failing: 0, passesPerSecond: 34 })).toBe(
      "● 1 node · 1,200 pods · 0 not converged · 34 passes/s",
    );
  });
});

test.each([
  ["/usr/local/bin/setpoint", "setpoint"],
  ["/home/jo/.npm/_npx/1a2b/node_modules/.bin/setpoint", "npx setpoint"],
  ["/src/setpoint/dist/cli.js", "node dist/cli.js"],
  ["/elsewhere/dist/cli.js", "node /elsewhere/dist/cli.js"],
])("the program at %s is called %s", (programFile, call) => {
  expect(programCall({ programFile, workingDir: "/src/setpoint" })).toBe(call);
});

test("a background process gets the same options, but for those of its parent", () => {
  const specs = [
    { flags: "-d, --detach", help: "" },
    { flags: "--data-dir <dir>", help: "" },
    { flags: "--node-shape <shape>", help: "" },
    { flags: "--json", help: "" },
    { flags: "--oidc <x>", help: "" },
  ];
  const options = { detach: true, dataDir: "-odd", nodeShape: ["a", "b"], json: true } as const;

  expect(argumentWords(specs, options)).toEqual(["--data-dir=-odd", "--node-shape=a", "--node-shape=b"]);
});
