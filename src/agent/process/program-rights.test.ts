import { describe, expect, test } from "vitest";
import type { ProgramRights } from "../runtime-handler.ts";
import { restrictionsOf, type RightsPlace } from "./program-rights.ts";

const RIGHTS: ProgramRights = {
  ...{ nonRoot: false, mayGainPrivileges: true, hasReadOnlyRoot: false },
  ...{ addedCapabilities: [], droppedCapabilities: [], profiles: [] },
};
const ROOT: RightsPlace = { uid: 0, isRoot: true, isLinux: true, hasNamespaces: true };
const USER: RightsPlace = { uid: 500, isRoot: false, isLinux: true, hasNamespaces: false };

function restrictions(rights: Partial<ProgramRights>, place = ROOT): readonly string[] {
  return restrictionsOf({ ...RIGHTS, ...rights }, place);
}

describe("the rights of a program", () => {
  test("are not touched without a security context", () => {
    expect(restrictions({})).toEqual([]);
  });

  test.each([
    [["ALL"], [], "-all"],
    [["ALL"], ["NET_BIND_SERVICE", "CAP_CHOWN"], "-all,+net_bind_service,+chown"],
    [["NET_RAW", "MKNOD"], ["MKNOD"], "-net_raw"],
  ])("lose the capabilities %j but for %j", (droppedCapabilities, addedCapabilities, set) => {
    expect(restrictions({ droppedCapabilities, addedCapabilities })).toEqual([
      `--bounding-set=${set}`,
      "--inh-caps=-all",
    ]);
  });

  test("cannot grow without privilege escalation", () => {
    expect(restrictions({ mayGainPrivileges: false })).toEqual(["--no-new-privs"]);
    expect(restrictions({ droppedCapabilities: ["all"] }, USER)).toEqual(["--no-new-privs"]);
  });

  test.each<{ what: string; rights: Partial<ProgramRights>; place?: RightsPlace; message: string }>([
    { what: "no root", rights: { nonRoot: true }, message: "and image will run as root: set runAsUser" },
    { what: "a profile", rights: { profiles: ["seccompProfile: a"] }, message: "remove seccompProfile: a" },
    {
      ...{ what: "a read-only root on a shared network", rights: { hasReadOnlyRoot: true }, place: USER },
      message: "needs a mount namespace",
    },
    {
      ...{ what: "less on another system", rights: { mayGainPrivileges: false } },
      ...{ place: { ...USER, isLinux: false }, message: "need Linux" },
    },
  ])("that ask for $what are refused where that is impossible", ({ rights, place, message }) => {
    expect(() => restrictions(rights, place)).toThrow(message);
  });

  test("are kept for a container that is no root", () => {
    expect(restrictions({ nonRoot: true }, { ...ROOT, uid: 1000 })).toEqual([]);
  });
});
