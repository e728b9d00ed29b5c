/**
 * AlwaysPullImages: sets the pull policy to Always, so that no pod uses a cached private image without credentials
 * for it.
 */
import {
  FieldErrors,
  type FieldPath,
  fieldErrorsText,
  fieldPath,
} from "../../../../api/errors/field-error.ts";
import type { Pod, Volume } from "../../../../api/generated/types/core-v1.ts";
import type { Draft } from "../../../../resources/rules/kind-rules.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";
import { containersOf } from "./pod-containers.ts";

const LISTS = ["initContainers", "containers", "ephemeralContainers"] as const;

export const alwaysPullImages = definePlugin<Pod>({
  name: "AlwaysPullImages",
  interests: [
    { resources: ["pods"], operations: ["CREATE", "UPDATE"] },
    { resources: ["pods/ephemeralcontainers"], operations: ["UPDATE"] },
  ],

  mutate(draft, request) {
    if (hasNoNewImage(draft, request)) return;
    const { spec } = draft;
    spec.containers = spec.containers.map(pulled);
    if (spec.initContainers !== undefined) spec.initContainers = spec.initContainers.map(pulled);
    if (spec.ephemeralContainers !== undefined)
      spec.ephemeralContainers = spec.ephemeralContainers.map(pulled);
    if (spec.volumes !== undefined) spec.volumes = spec.volumes.map(pulledVolume);
  },

  /** A webhook may have changed the pull policy after `mutate`. */
  validate(pod, request) {
    if (hasNoNewImage(pod, request)) return;
    const errors = new FieldErrors();
    for (const { path, policy } of policiesOf(pod)) {
      if (policy !== "Always") errors.notSupported(path, policy, ["Always"]);
    }
    if (!errors.isEmpty) throw refusal(request, fieldErrorsText(errors.found));
  },
});

function pulled<T extends { imagePullPolicy?: string }>(container: T): T {
  return { ...container, imagePullPolicy: "Always" };
}

function pulledVolume(volume: Draft<Volume>): Draft<Volume> {
  const { image } = volume;
  return image === undefined ? volume : { ...volume, image: { ...image, pullPolicy: "Always" } };
}

interface PlacedPolicy {
  readonly path: FieldPath;
  readonly policy: string;
}

/** Pull policies of all images. */
function* policiesOf({ spec }: Pod): Generator<PlacedPolicy> {
  for (const list of LISTS) {
    for (const [at, { imagePullPolicy = "" }] of (spec[list] ?? []).entries()) {
      yield { path: fieldPath("spec", list).index(at).child("imagePullPolicy"), policy: imagePullPolicy };
    }
  }
  for (const [at, { image }] of (spec.volumes ?? []).entries()) {
    if (image === undefined) continue;
    const path = fieldPath("spec", "volumes").index(at).child("image").child("pullPolicy");
    yield { path, policy: image.pullPolicy ?? "" };
  }
}

function hasNoNewImage({ spec }: Pod, { previous }: AdmissionRequest): boolean {
  if (previous === undefined) return false;
  const known = new Set(imagesOf((previous as Pod).spec));
  return imagesOf(spec).every((image) => known.has(image));
}

function imagesOf(spec: Pod["spec"]): readonly (string | undefined)[] {
  return [
    ...containersOf(spec).map(({ image }) => image),
    ...(spec.volumes ?? []).flatMap(({ image }) => (image === undefined ? [] : image.reference)),
  ];
}
