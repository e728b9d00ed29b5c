/**
 * Keeps the Endpoints object of each Service with a selector, for clients that do not read EndpointSlices.
 *
 * Reads Services and Pods; writes the Endpoints of the same name.
 */
import { Endpoints, Service } from "../../api/generated/types/core-v1.ts";
import type { EndpointAddress, EndpointSubset, Pod } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import { repackSubsets } from "../../resources/endpoint/subset-packing.ts";
import { isReady } from "../../resources/pod/pod-state.ts";
import { defineController, watching } from "../../runtime/controller/controller.ts";
import type { Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { perRunState } from "../per-run-state.ts";
import { createUnlessTerminating } from "../terminating-namespace.ts";
import { truncateToCapacity } from "./capacity.ts";
import type { TruncatedSubsets } from "./capacity.ts";
import {
  addressOf,
  choosesPods,
  familiesOf,
  hasAddress,
  hostnameOf,
  isBeingDeleted,
  isHeadless,
  portsOf,
} from "./service-pods.ts";
import { TriggerTimes, withTriggerTime } from "./trigger-times.ts";
import { chosenPods, podsOf, selectingServices } from "./watched-pods.ts";

const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
const HEADLESS = "service.kubernetes.io/headless";
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";

export const endpointsController = defineController({
  name: "endpoint-controller",
  for: Service,
  indexes: [selectingServices],
  watches: [
    chosenPods,
    watching(Endpoints, function* ({ before, after }) {
      const { namespace, name } = (after ?? before)?.metadata ?? { name: "" };
      yield { namespace, name };
    }),
  ],
  reconcile,
  vanished: async ({ namespace, name }, { cache, client }) => {
    triggerTimes(cache).forget({ namespace, name });
    const left = cache(Endpoints).find({ namespace, name });
    if (left?.metadata.labels?.[MANAGED_BY] === "endpoint-controller") await client(Endpoints).delete(left);
  },
});

const triggerTimes = perRunState(() => new TriggerTimes());

async function reconcile(service: Service, context: ReconcileContext): Promise<Outcome> {
  if (!choosesPods(service)) return;
  const { cache, client } = context;
  const { namespace, name } = service.metadata;
  const pods = await podsOf(service, context);
  const { labels, isCut, subsets } = wantedOf(service, pods);
  // Runs even if no write follows: the next pass compares with this one.
  const triggerTime = triggerTimes(cache).next(service, pods);
  const known = cache(Endpoints).find({ namespace, name });
  const expected = annotationsWith(known?.metadata.annotations, isCut);
  const annotations = withTriggerTime(expected, triggerTime);
  if (known === undefined) {
    const metadata = { name, namespace, labels, annotations };
    await createUnlessTerminating(client(Endpoints).create({ metadata, subsets }));
    return;
  }
  const { metadata } = known;
  const isSame =
    jsonEqual(known.subsets ?? [], subsets) &&
    jsonEqual(metadata.labels ?? {}, labels) &&
    jsonEqual(metadata.annotations ?? {}, expected);
  if (!isSame)
    await client(Endpoints).update({ ...known, metadata: { ...metadata, labels, annotations }, subsets });
}

type Texts = Readonly<Record<string, string>>;

interface Wanted extends TruncatedSubsets {
  readonly labels: Texts;
}

/** Keeps the annotations of other writers. */
function annotationsWith(known: Texts | undefined, isCut: boolean): Texts {
  const { [OVER_CAPACITY]: _capacity, ...others } = known ?? {};
  return isCut ? { ...others, [OVER_CAPACITY]: "truncated" } : others;
}

function wantedOf(service: Service, pods: readonly Pod[]): Wanted {
  const { [HEADLESS]: _headless, [MANAGED_BY]: _manager, ...own } = service.metadata.labels ?? {};
  const labels = {
    ...own,
    ...(isHeadless(service) && { [HEADLESS]: "" }),
    [MANAGED_BY]: "endpoint-controller",
  };
  return { labels, ...truncateToCapacity(subsetsOf(service, pods)) };
}

function subsetsOf(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const [family = "IPv4"] = familiesOf(service);
  const subsets = pods.flatMap((pod) => {
    const ip = addressOf(pod, family);
    const isListed = ip !== undefined && hasAddress(pod) && isShown(service, pod);
    return isListed ? [subsetOf(service, pod, ip)] : [];
  });
  return repackSubsets(subsets.flat());
}

/** Terminating pods are left out, except for Services with publishNotReadyAddresses. */
function isShown({ spec }: Service, pod: Pod): boolean {
  return !isBeingDeleted(pod) || spec.publishNotReadyAddresses === true;
}

function subsetOf(service: Service, pod: Pod, ip: string): readonly EndpointSubset[] {
  const ports = portsOf(service, pod);
  const hasPorts = (service.spec.ports ?? []).length > 0;
  if (hasPorts && ports.length === 0) return [];
  const { namespace = "", name, uid } = pod.metadata;
  const { nodeName } = pod.spec;
  const hostname = hostnameOf(service, pod);
  const address: EndpointAddress = {
    ip,
    ...(nodeName !== undefined && { nodeName }),
    ...(hostname !== undefined && { hostname }),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
  const isUsable = service.spec.publishNotReadyAddresses === true || isReady(pod);
  const place = isUsable ? { addresses: [address] } : { notReadyAddresses: [address] };
  return [{ ...place, ...(ports.length > 0 && { ports: ports.map(namedPort) }) }];
}

/** Omits an empty port name. */
function namedPort({
  name,
  ...port
}: ReturnType<typeof portsOf>[number]): NonNullable<EndpointSubset["ports"]>[number] {
  return name === "" ? port : { ...port, name };
}
