/** Annotations of volumes and claims, shared with upstream's controllers and provisioners. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
export const STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner";
/** Annotation for older provisioners. */
export const OLD_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner";
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
export const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";

/** Name of the built-in provisioner, whose volumes are folders of a node. */
export const HOST_PATH_PROVISIONER = "setpoint.dev/host-path";
