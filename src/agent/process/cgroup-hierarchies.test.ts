import { describe, expect, test } from "vitest";
import { chooseGroup, groupsAbove, parsePlaces, type GroupState } from "./cgroup-hierarchies.ts";

const ROOT = "/sys/fs/cgroup";
const BOTH = ["cpu", "memory", "pids"];

function group(folder: string, state: Partial<GroupState> = {}): GroupState {
  const common = { isWritable: true, available: BOTH, enabled: [], hasProcesses: false };
  return { folder, ...common, ...state };
}

describe("the groups of a process", () => {
  test("are found by controller, also when a path has a colon", () => {
    const places = parsePlaces("4:memory:/a\n2:cpu,cpuacct:/b:c\n0::/user.slice\n");

    expect(Object.fromEntries(places)).toEqual({
      memory: "/a",
      "cpu,cpuacct": "/b:c",
      "": "/user.slice",
    });
  });

  test("lie in all groups above them", () => {
    expect(groupsAbove("/user.slice/app")).toEqual([ROOT, `${ROOT}/user.slice`, `${ROOT}/user.slice/app`]);
    expect(groupsAbove("/")).toEqual([ROOT]);
  });

  test("are not looked for outside of the cgroup namespace", () => {
    expect(groupsAbove("/../other")).toEqual([]);
  });
});

describe("the group for containers", () => {
  test("is the root for root, which passes its controllers on", () => {
    const root = group(ROOT, { enabled: BOTH, hasProcesses: true });

    expect(chooseGroup([root, group(`${ROOT}/system.slice`)])).toBe(ROOT);
  });

  test("is the highest one that a normal user got", () => {
    const user = `${ROOT}/user.slice/user-1000.slice/user@1000.service`;
    const groups = [
      group(ROOT, { isWritable: false, enabled: BOTH }),
      group(user, { enabled: ["memory", "pids"] }),
      group(`${user}/app.slice`),
      group(`${user}/app.slice/run.scope`, { hasProcesses: true }),
    ];

    expect(chooseGroup(groups)).toBe(user);
  });

  test("is none with processes of its own, whose controllers cannot be passed on", () => {
    expect(chooseGroup([group(ROOT, { hasProcesses: true })])).toBeUndefined();
  });

  test("is none without the controllers", () => {
    expect(chooseGroup([group(ROOT, { available: ["pids"] })])).toBeUndefined();
    expect(chooseGroup([])).toBeUndefined();
  });
});
