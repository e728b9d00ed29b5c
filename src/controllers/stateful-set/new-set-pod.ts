/** Builds the pod of an ordinal with its name, hostname and volumes. */
import type { Manifest } from "../../api/api-object.ts";
import type { ControllerRevision, StatefulSet } from "../../api/generated/types/apps-v1.ts";
import type { Pod, PodTemplateSpec, Volume } from "../../api/generated/types/core-v1.ts";
import { podFromTemplate } from "../pods/pod-from-template.ts";
import { REVISION_HASH, templateIn } from "../revisions/revisions.ts";
import { claimName } from "./claims.ts";

const POD_NAME = "statefulset.kubernetes.io/pod-name";
const POD_INDEX = "apps.kubernetes.io/pod-index";

export function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${String(ordinal)}`;
}

export function newPod(set: StatefulSet, ordinal: number, revision: ControllerRevision): Manifest<Pod> {
  const template = templateIn(revision) ?? set.spec.template;
  const name = podName(set, ordinal);
  const { metadata, spec } = template;
  const identified: PodTemplateSpec = {
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        ...identityLabels(set, ordinal),
        [REVISION_HASH]: revision.metadata.name,
      },
    },
    spec: {
      ...spec,
      hostname: name,
      ...(set.spec.serviceName !== "" && { subdomain: set.spec.serviceName }),
      ...volumesOf(set, spec.volumes, ordinal),
    },
  };
  return podFromTemplate(set, identified, name);
}

/** Labels by which a Service can select a single pod. */
export function identityLabels(set: StatefulSet, ordinal: number): Readonly<Record<string, string>> {
  return { [POD_NAME]: podName(set, ordinal), [POD_INDEX]: String(ordinal) };
}

/** A claim template replaces a volume of the same name. */
function volumesOf(
  set: StatefulSet,
  volumes: readonly Volume[] | undefined,
  ordinal: number,
): { readonly volumes?: readonly Volume[] } {
  const claims = (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    name: template.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  const claimed = new Set(claims.map(({ name }) => name));
  const all = [...claims, ...(volumes ?? []).filter(({ name }) => !claimed.has(name))];
  return all.length === 0 ? {} : { volumes: all };
}
