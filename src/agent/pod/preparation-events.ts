/** Events before the first container of a pod starts. Reasons and messages equal the kubelet's. */
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import type { ConfigReference } from "./config-needs.ts";
import type { VolumeFailure } from "./volume-setup.ts";

type Warning = Pick<RecordedEvent, "reason" | "message">;

export function mountFailed({ volume, message }: VolumeFailure): Warning {
  const subject = `MountVolume.SetUp failed for volume ${JSON.stringify(volume)}`;
  return { reason: "FailedMount", message: `${subject} : ${message}` };
}

/** The pull may succeed without these secrets. */
export function pullSecretsMissing(secrets: readonly ConfigReference[]): Warning {
  const names = secrets.map(({ name }) => name).join(", ");
  const message = `Unable to retrieve some image pull secrets (${names}); attempting to pull the image may not succeed.`;
  return { reason: "FailedToRetrieveImagePullSecret", message };
}
