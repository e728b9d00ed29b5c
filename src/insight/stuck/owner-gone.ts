/** All owners of the object are gone, so the garbage collector deletes the object. */
import type { StuckRule } from "./situation.ts";
import { kubectlName } from "./situation.ts";

const WITHOUT_OWNERS = `[{"op":"remove","path":"/metadata/ownerReferences"}]`;

export const ownerGoneRule: StuckRule = (situation) => {
  const { owners, object } = situation;
  if (owners.length === 0 || owners.some(({ state }) => state !== "gone")) return undefined;
  const names = owners.map(({ reference: { kind, name } }) => `${kind} ${name}`).join(", ");
  if (object.metadata.deletionTimestamp !== undefined)
    return { blockedBy: `its owner is gone (${names}), and it is being deleted`, unblock: [] };
  const command = `kubectl patch ${kubectlName(situation)} --type=json -p='${WITHOUT_OWNERS}'`;
  return {
    blockedBy: `its owner is gone (${names}); the garbage collector will delete it`,
    unblock: [{ command, effect: "keep it without an owner" }],
  };
};
