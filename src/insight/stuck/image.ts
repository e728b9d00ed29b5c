/** The image of a container cannot be pulled. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { Remedy, Situation, StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";
import { waitingContainers } from "./waiting-containers.ts";

const REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "RegistryUnavailable",
]);

/** Runtimes repeat the image up to four times before the reason. */
const PREAMBLE =
  /^(?:Failed to pull image "[^"]*": |rpc error: code = \w+ desc = |failed to (?:pull and unpack image|resolve reference) "[^"]*": )/;
const MISSING_SECRETS = /Unable to retrieve some image pull secrets \(([^)]*)\)/;
const LOGIN = "--docker-server=HOST --docker-username=USER --docker-password=PASSWORD";

export const imageRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const waiting = pod && waitingContainers(pod).find(({ reason }) => REASONS.has(reason));
  if (pod === undefined || waiting === undefined) return undefined;
  const { name, image } = waiting.status;
  const failed = situation.events.find(
    ({ reason, message }) => reason === "Failed" && message?.startsWith("Failed to pull") === true,
  );
  const [, secrets] =
    situation.events.map(({ message = "" }) => MISSING_SECRETS.exec(message)).find((each) => each !== null) ??
    [];
  const missing = secrets === undefined ? "" : `; its imagePullSecrets do not exist: ${secrets}`;
  return {
    blockedBy: `image ${image} of container ${name}: ${waiting.reason}: ${reasonIn(failed?.message ?? waiting.message)}${missing}`,
    unblock: [
      ...loginRemedy(situation, pod, secrets?.split(",")[0]?.trim()),
      {
        command: `kubectl set image ${kubectlName(situation.top)} ${name}=IMAGE`,
        effect: "name an image that exists",
      },
    ],
  };
};

function reasonIn(message: string): string {
  let text = message;
  while (PREAMBLE.test(text)) text = text.replace(PREAMBLE, "");
  return text;
}

/** For a secret that is missing, and for a registry that refuses a pull without a login. */
function loginRemedy({ events }: Situation, pod: Pod, secret: string | undefined): readonly Remedy[] {
  const isRefused = events.some(({ message = "" }) => /denied|unauthorized|authoriz/i.test(message));
  if (secret === undefined && !(isRefused && pod.spec.imagePullSecrets === undefined)) return [];
  const place = inNamespace(pod.metadata.namespace);
  return [
    {
      command: `kubectl create secret docker-registry ${secret ?? "NAME"}${place} ${LOGIN}`,
      effect: "for a registry that needs a login",
    },
  ];
}
