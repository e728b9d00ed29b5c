/** Notes that volumes and claims carry, as upstream's loops and provisioners read them. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
export const STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner";
/** What older provisioners read. */
export const OLD_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner";
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
export const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

/** Volumes that are a folder of the node. */
export const HOST_PATH_PROVISIONER = "setpoint.dev/host-path";
