/** The image of a container cannot be pulled. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";
import { waitingContainers } from "./waiting-containers.ts";

const REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
]);

export const imageRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const waiting = pod && waitingContainers(pod).find(({ reason }) => REASONS.has(reason));
  if (pod === undefined || waiting === undefined) return undefined;
  const { name, image } = waiting.status;
  const failed = situation.events.find(
    ({ reason, message }) => reason === "Failed" && message?.startsWith("Failed to pull") === true,
  );
  const login = {
    command: `kubectl create secret docker-registry NAME${inNamespace(pod.metadata.namespace)}`,
    effect: "for a registry that needs a login",
  };
  return {
    blockedBy: `image ${image} of container ${name}: ${waiting.reason}: ${failed?.message ?? waiting.message}`,
    unblock: [
      {
        command: `kubectl set image ${kubectlName(situation)} ${name}=IMAGE`,
        effect: "name an image that exists (in its owner's template)",
      },
      ...(pod.spec.imagePullSecrets === undefined ? [login] : []),
    ],
  };
};
