/** Address of a server, how to verify it, and how to authenticate to it. */

/** A text, or a file that contains it and may change. */
export type TextSource = { readonly text: string } | { readonly file: string };

/** Server and credentials of an HTTP transport. */
export interface Endpoint {
  /** URL such as `https://127.0.0.1:6443`. A path becomes the prefix of all API paths. */
  readonly server: string;
  /** Certificate authority in PEM. Default: the authorities that this machine trusts. */
  readonly ca?: TextSource;
  /** Name in the server's certificate. Default: the host of the URL. */
  readonly tlsServerName?: string;
  /** `none` accepts every certificate: any machine in between can read all secrets. Default: `full`. */
  readonly verification?: "full" | "none";
  /** Credentials. Default: anonymous. */
  readonly user?: EndpointUser;
}

/** Credentials of a user. */
export interface EndpointUser {
  /** Bearer token. */
  readonly token?: TextSource;
  /**
   * Returns the current bearer token. Gets the token that the server has just rejected, and must then return another.
   */
  readonly tokenSource?: (refused: string | undefined) => Promise<string>;
  /** Client certificate and key, both in PEM. */
  readonly certificate?: TextSource;
  readonly key?: TextSource;
  /** Program that returns a token or a certificate. */
  readonly exec?: ExecPlugin;
  /** User to act as, instead of the authenticated one. */
  readonly impersonation?: Impersonation;
}

/** Credential plugin of a kubeconfig. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  /** Variables added to those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Passes server and certificate authority to the program. */
  readonly provideClusterInfo: boolean;
  /** Hint that an error shows when the program is missing. */
  readonly installHint?: string;
}

/** User to act as, by the `Impersonate-*` headers. */
export interface Impersonation {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}
