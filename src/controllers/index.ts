/** Built-in controllers and routines: workloads first, then networking, cluster, storage and nodes. */
import type { Controller } from "../runtime/controller/controller.ts";
import type { Routine } from "../runtime/manager/routine.ts";
import { autoscalerController } from "./autoscaler/controller.ts";
import { bootstrapSignerController } from "./bootstrap-signer.ts";
import { bootstrapTokenCleanerController } from "./bootstrap-token-cleaner.ts";
import { csrApprovingController } from "./certificates/approving.ts";
import { clusterRoleAggregationController } from "./cluster-role-aggregation.ts";
import { cronJobController } from "./cron-job/controller.ts";
import { csrCleanerController } from "./csr-cleaner.ts";
import { daemonSetController } from "./daemon-set/controller.ts";
import { deploymentController } from "./deployment/controller.ts";
import { deviceTaintEvictionController } from "./device-taint/device-taint-eviction.ts";
import { disruptionController } from "./disruption/controller.ts";
import { staleTargetController } from "./disruption/stale-target.ts";
import { driftObserver } from "./drift-observer.ts";
import { endpointSliceController } from "./endpoints/endpoint-slice.ts";
import { endpointsController } from "./endpoints/endpoints.ts";
import { endpointSliceMirroringController } from "./endpoints/mirroring.ts";
import { ephemeralVolumeController } from "./ephemeral-volume/controller.ts";
import { garbageCollectorRoutine } from "./garbage-collector/routine.ts";
import { jobController } from "./job/controller.ts";
import { orphanJobPodsController } from "./job/orphan-pods.ts";
import { legacyTokenCleaner } from "./legacy-token-cleaner/routine.ts";
import { namespaceController } from "./namespace/controller.ts";
import { nodeLifecycleRoutine } from "./node-lifecycle/controller.ts";
import { nodeTtlController } from "./node-lifecycle/node-ttl.ts";
import { taintEvictionRoutine } from "./node-lifecycle/taint-eviction.ts";
import { podGcRoutine } from "./pod-gc/routine.ts";
import { replicaSetController } from "./replica-set.ts";
import { replicationController } from "./replication-controller.ts";
import { claimReleaseController } from "./resource-claim/claim-release.ts";
import { claimReservationController } from "./resource-claim/claim-reservation.ts";
import { podClaimsController } from "./resource-claim/pod-claims.ts";
import { resourceQuotaController } from "./resource-quota/controller.ts";
import { serviceAccountController } from "./service-account.ts";
import { serviceCidrController } from "./service-cidr.ts";
import { statefulSetController } from "./stateful-set/controller.ts";
import { ttlAfterFinishedController } from "./ttl-after-finished.ts";
import { defaultStorageClass } from "./volume/default-storage-class.ts";
import {
  attributesProtectionController,
  claimProtectionController,
  volumeProtectionController,
} from "./volume/protection.ts";
import { claimController } from "./volume/volume-claim.ts";
import { volumeController } from "./volume/volume.ts";

export const controllers: readonly Controller[] = [
  deploymentController,
  replicaSetController,
  replicationController,
  statefulSetController,
  daemonSetController,
  jobController,
  orphanJobPodsController,
  cronJobController,
  endpointSliceController,
  endpointsController,
  endpointSliceMirroringController,
  autoscalerController,
  disruptionController,
  staleTargetController,
  namespaceController,
  serviceAccountController,
  resourceQuotaController,
  clusterRoleAggregationController,
  ttlAfterFinishedController,
  serviceCidrController,
  csrCleanerController,
  csrApprovingController,
  bootstrapTokenCleanerController,
  bootstrapSignerController,
  claimController,
  volumeController,
  claimProtectionController,
  volumeProtectionController,
  attributesProtectionController,
  ephemeralVolumeController,
  podClaimsController,
  claimReleaseController,
  nodeTtlController,
  claimReservationController,
  deviceTaintEvictionController,
];

export const routines: readonly Routine[] = [
  garbageCollectorRoutine,
  podGcRoutine,
  defaultStorageClass,
  nodeLifecycleRoutine,
  taintEvictionRoutine,
  legacyTokenCleaner,
  driftObserver,
];
