/** Equal to `version` in package.json, which a test holds; a constant, so that no start reads a file for it. */
export const VERSION = "0.1.0";

/** The version of the Kubernetes API that is served. */
export const KUBERNETES_VERSION = "v1.36";
