/** Clusters and objects that the scenarios of the node agent share. */
import type { ContainerStatus } from "../../src/api/generated/types/core-v1.ts";
import { Pod, ServiceAccount } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster, StartOptions } from "../../src/cluster/in-program/start-cluster.ts";

/** Pods need a service account, which another controller would create. */
export async function openCluster(options: StartOptions): Promise<Cluster> {
  const cluster = await startCluster(options);
  await cluster.client(ServiceAccount).apply({ metadata: { name: "default", namespace: "default" } });
  return cluster;
}

export function find(cluster: Cluster, name: string): Pod {
  const found = cluster.objects(Pod, "default").find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no pod ${name}`);
  return found;
}

/** Status of the pod's first container. */
export function container(cluster: Cluster, name: string): ContainerStatus {
  const [found] = find(cluster, name).status.containerStatuses ?? [];
  if (found === undefined) throw new Error(`the pod ${name} has no container`);
  return found;
}
