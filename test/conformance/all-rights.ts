import type { ProgramRights } from "../../src/agent/runtime-handler.ts";

/** Rights of a container without a security context. */
export const ALL_RIGHTS: ProgramRights = {
  ...{ nonRoot: false, mayGainPrivileges: true, hasReadOnlyRoot: false },
  ...{ addedCapabilities: [], droppedCapabilities: [], profiles: [] },
};
