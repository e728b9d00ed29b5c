/** Decides which pod updates are checked. A pod that older rules admitted may still be labelled and deleted. */
import type { Pod } from "../../../../../api/generated/types/core-v1.ts";
import { ownValue } from "../../../../../resources/rules/value-rules.ts";
import type { AnyContainer } from "../pod-containers.ts";

const SECCOMP = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/";

/** Whether the update changes an image or a seccomp profile, or adds or removes a container. */
export function isSignificantUpdate(next: Pod, previous: Pod): boolean {
  const isOtherNote = (key: string): boolean =>
    ownValue(next.metadata.annotations, key) !== ownValue(previous.metadata.annotations, key);
  const isOther = (now: AnyContainer, before: AnyContainer | undefined): boolean =>
    before === undefined || now.image !== before.image || isOtherNote(`${CONTAINER_SECCOMP}${now.name}`);
  if (isOtherNote(SECCOMP)) return true;
  for (const list of ["containers", "initContainers"] as const) {
    const [now, before] = [next.spec[list] ?? [], previous.spec[list] ?? []];
    if (now.length !== before.length || now.some((container, at) => isOther(container, before[at])))
      return true;
  }
  const { ephemeralContainers: before = [] } = previous.spec;
  return (next.spec.ephemeralContainers ?? []).some((container) =>
    isOther(
      container,
      before.find(({ name }) => name === container.name),
    ),
  );
}
