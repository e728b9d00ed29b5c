/**
 * What the scheduler needs of a pod's spec, worked out once for all pods that are alike. The pods of a ReplicaSet share one shape, and
 * with it everything that was found out about nodes for the first of them.
 */

import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { featuresToRun } from "../../resources/pod/declared-features.ts";
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
  /** For scores: as if each container asked for a little, so that pods that ask for nothing spread too. */
  readonly assumed: { readonly milliCpu: number; readonly memory: number };
  readonly hostPorts: readonly HostPort[];
  readonly images: readonly string[];
  /** What its node must be able to do. */
  readonly features: readonly string[];
  /** Of some pod of this shape. Only what makes up a shape may be read of it. */
  readonly spec: ShapedSpec;
  affinityIn(namespace: string): AffinityTerms;
}

/** What a container that does not say is taken to need. */
const ASSUMED = { cpu: "100m", memory: "200Mi" };

/** A shape is small, and the pods of one workload share one. */
const SHAPES_MAX = 2048;
/** Of the text of one: longer ones are made each time, so that nobody fills the memory with pods that are gone. */
const TEXT_MAX = 20_000;

/** Shapes by their texts. */
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

/** Everything that a plugin reads of `shape.spec` must be in here. Volumes are not: the pods of a StatefulSet differ in theirs. */
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
    featuresToRun(spec),
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
    features: featuresToRun(spec),
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

/** Nodes report images with a tag; without one, the latest is meant. */
export function normalImage(name: string): string {
  return name.lastIndexOf(":") <= name.lastIndexOf("/") ? `${name}:latest` : name;
}
