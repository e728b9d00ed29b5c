/**
 * The scheduling-relevant part of a pod's spec, computed once for all equal pods. The pods of a ReplicaSet share one shape and all cached
 * results about nodes.
 */

import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { featuresRequiredToRun } from "../../resources/pod/declared-features.ts";
import { type HostPort, hostPorts } from "../../resources/pod/host-ports.ts";
import { grantedPart, podRequests } from "../../resources/pod/pod-requests.ts";
import { type AffinityTerms, compileAffinity } from "./affinity-term.ts";
import { amountsOf, type Amounts } from "./amounts.ts";

type ShapedSpec = Pick<
  Pod["spec"],
  "nodeSelector" | "affinity" | "tolerations" | "topologySpreadConstraints"
>;

export interface PodShape {
  readonly requests: Amounts;
  /** Requests for scoring, with small defaults per container, so that pods without requests are spread too. */
  readonly assumed: { readonly milliCpu: number; readonly memory: number };
  readonly hostPorts: readonly HostPort[];
  readonly images: readonly string[];
  /** Features that the pod requires of its node. */
  readonly features: readonly string[];
  /** Spec of some pod of this shape; only fields that are part of the shape may be read. */
  readonly spec: ShapedSpec;
  affinityIn(namespace: string): AffinityTerms;
}

/** Default requests per container, for scoring only. */
const ASSUMED = { cpu: "100m", memory: "200Mi" };

/** Upper bound of cached shapes; pods of one workload share one. */
const SHAPES_MAX = 2048;
/** Upper bound of a cached shape's text: longer shapes are not cached, so that deleted pods cannot fill the memory. */
const TEXT_MAX = 20_000;

/** Cache of shapes by text. */
export class PodShapes {
  readonly #known = new Map<string, PodShape>();

  shapeOf(pod: Pod): PodShape {
    const text = shapeText(pod);
    const found = this.#known.get(text);
    if (found !== undefined) return found;
    const shape = makeShape(pod);
    if (text.length > TEXT_MAX) return shape;
    if (this.#known.size >= SHAPES_MAX) this.#known.clear();
    this.#known.set(text, shape);
    return shape;
  }
}

/** Must contain every field that a plugin reads of `shape.spec`. Volumes are left out: pods of a StatefulSet differ in them. */
function shapeText(pod: Pod): string {
  const { spec } = pod;
  return stringifyJson([
    spec.containers.map(containerPart),
    spec.initContainers?.map(containerPart),
    spec.overhead,
    spec.resources,
    spec.nodeSelector,
    spec.affinity,
    spec.tolerations,
    spec.topologySpreadConstraints,
    grantedPart(pod),
    featuresRequiredToRun(spec),
  ]);
}

function containerPart({ name, image, resources, ports, restartPolicy }: Container): unknown {
  const held = ports?.filter(({ hostPort = 0 }) => hostPort > 0);
  const holdsPorts = held !== undefined && held.length > 0;
  return [name, image, resources.requests, restartPolicy, holdsPorts ? held : 0];
}

function makeShape(pod: Pod): PodShape {
  const { spec } = pod;
  const assumed = amountsOf(podRequests(pod, ASSUMED));
  const affinities = new Map<string, AffinityTerms>();
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  return {
    requests: amountsOf(podRequests(pod)),
    assumed: { milliCpu: assumed.milliCpu, memory: assumed.memory },
    hostPorts: hostPorts(spec),
    features: featuresRequiredToRun(spec),
    images: containers.flatMap(({ image }) => (image === undefined ? [] : [normalImage(image)])),
    spec,
    affinityIn(namespace) {
      let terms = affinities.get(namespace);
      if (terms === undefined) {
        terms = compileAffinity(spec.affinity, namespace);
        affinities.set(namespace, terms);
      }
      return terms;
    },
  };
}

/** Nodes report images with a tag; a name without a tag means `latest`. */
export function normalImage(name: string): string {
  return name.lastIndexOf(":") <= name.lastIndexOf("/") ? `${name}:latest` : name;
}
