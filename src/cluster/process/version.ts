/** Equals `version` in package.json; a test checks it. A constant saves reading a file at start. */
export const VERSION = "0.1.0";

/** Version of the Kubernetes API that is served. */
export const KUBERNETES_VERSION = "v1.36";
