import { describe, expect, test } from "vitest";
import type { HostMount } from "../runtime-handler.ts";
import { planMounts, type HostFiles, type MountStep } from "./mount-plan.ts";
import { mountScript } from "./mount-script.ts";

/** A machine with these files; `/var/run` is a link to `/run`. */
const FOLDERS = ["/", "/etc", "/run", "/dev", "/dev/shm", "/host", "/host/data", "/host/token"];
const FILES = ["/etc/hosts", "/host/hosts"];
const machine: HostFiles = {
  kindOf(path) {
    const real = machine.resolve(path);
    if (FOLDERS.includes(real)) return "folder";
    return FILES.includes(real) ? "file" : undefined;
  },
  resolve: (path) => path.replace(/^\/var\/run/, "/run").replace(/^\/var$/, "/run"),
  modeOf: (path) => (path === "/run" ? 0o1777 : 0o755),
  identityOf: (path) => `1:${String([...FOLDERS, ...FILES].indexOf(machine.resolve(path)))}`,
  mountsBelow: (folder) => (folder === "/dev" ? ["/dev/shm"] : []),
};

function mount(hostPath: string, containerPath: string): HostMount {
  return { volume: "v", hostPath, containerPath, readOnly: false, propagation: "None" };
}

function steps(...mounts: readonly HostMount[]): readonly string[] {
  return planMounts(mounts, machine).steps.map(textOf);
}

function textOf(step: MountStep): string {
  if (step.type === "overlay") return `overlay ${step.folder}`;
  return step.type === "make" ? `make ${step.path}` : `bind ${step.mount.hostPath} ${step.path}`;
}

describe("a mount plan", () => {
  test("binds over an existing path", () => {
    expect(steps(mount("/host/hosts", "/etc/hosts"))).toEqual(["bind /host/hosts /etc/hosts"]);
  });

  test("makes a missing path in an overlay of the folder above it", () => {
    expect(steps(mount("/host/data", "/etc/config/app"))).toEqual([
      "overlay /etc",
      "make /etc/config/app",
      "bind /host/data /etc/config/app",
    ]);
  });

  test("follows links of the machine", () => {
    expect(steps(mount("/host/token", "/var/run/secrets/token"))).toEqual([
      "overlay /run",
      "make /run/secrets/token",
      "bind /host/token /run/secrets/token",
    ]);
  });

  test("lays one overlay for several paths", () => {
    expect(steps(mount("/host/data", "/etc/a"), mount("/host/data", "/etc/b"))).toEqual([
      "overlay /etc",
      "make /etc/a",
      "bind /host/data /etc/a",
      "make /etc/b",
      "bind /host/data /etc/b",
    ]);
  });

  test("makes a path inside a volume within the volume", () => {
    expect(steps(mount("/host/token", "/etc/app/inner"), mount("/host/data", "/etc/app"))).toEqual([
      "overlay /etc",
      "make /etc/app",
      "bind /host/data /etc/app",
      "make /etc/app/inner",
      "bind /host/token /etc/app/inner",
    ]);
  });

  test("needs a new root for a path directly below it", () => {
    const plan = planMounts([mount("/host/data", "/data/app")], machine);

    expect(plan.needsRoot).toBe(true);
    expect(plan.steps.map(textOf)).toEqual(["make /data/app", "bind /host/data /data/app"]);
  });

  test("refuses a source that does not exist", () => {
    expect(() => planMounts([mount("/host/none", "/etc/x")], machine)).toThrow(
      "mount source /host/none does not exist",
    );
  });
});

describe("the folders that a container must not see", () => {
  const hidden = (secret: string, ...mounts: readonly HostMount[]): readonly string[] =>
    planMounts(mounts, machine, [secret]).hidden;

  test("are hidden at their own path, and in every volume that shows them", () => {
    expect(hidden("/host/data", mount("/host", "/etc/machine"), mount("/", "/etc/all"))).toEqual([
      "/host/data",
      "/etc/machine/data",
      "/etc/all/host/data",
    ]);
  });

  test("are not hidden where a volume covers them", () => {
    expect(hidden("/host/data", mount("/etc", "/host"))).toEqual([]);
    expect(hidden("/run/a", mount("/", "/etc/all"), mount("/host/data", "/etc/all/run"))).toEqual(["/run/a"]);
  });

  test("do not hide the agent's own volumes in them", () => {
    expect(hidden("/host", mount("/host/data", "/etc/data"))).toEqual(["/host"]);
  });
});

describe("a mount script", () => {
  test("binds mounts below an overlay again, and hides folders last", () => {
    const plan = planMounts([mount("/host/hosts", "/dev/termination-log")], machine, ["/secret"]);

    const script = mountScript(plan, { stage: "/stage", hasReadOnlyRoot: false }, machine);

    const lines = script.split(/(?: &&)?\n/);
    expect(lines).toContain("mount --rbind /stage/0/lower/shm /dev/shm");
    expect(lines.slice(-3)).toEqual([
      "mount --bind /host/hosts /dev/termination-log",
      "mount -t tmpfs -o ro,size=4k,mode=000 tmpfs /secret",
      "mount -t proc proc /proc",
    ]);
  });

  test("makes the folders of all overlays with one command, and keeps the modes of what they cover", () => {
    const mounts = [mount("/host/hosts", "/dev/termination-log"), mount("/host/data", "/run/app")];

    const script = mountScript(
      planMounts(mounts, machine),
      { stage: "/stage", hasReadOnlyRoot: false },
      machine,
    );

    const lines = script.split(/(?: &&)?\n/);
    expect(lines.filter((line) => /^(?:mkdir .*\/stage\/|chmod)/.test(line))).toEqual([
      "mkdir -p -m 755 /stage/0/lower /stage/0/upper /stage/0/work /stage/3/lower /stage/3/upper /stage/3/work",
      "chmod 1777 /run",
    ]);
  });
});
