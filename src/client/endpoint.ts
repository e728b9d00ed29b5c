/** Where a server is, how to know it, and how to prove to it who one is. */

/** Text that is given, or that lies in a file and may change there. */
export type TextSource = { readonly text: string } | { readonly file: string };

export interface Endpoint {
  /** Such as `https://127.0.0.1:6443`. With a path, the API lies below it. */
  readonly server: string;
  /** In PEM. Those that this machine trusts anyway, unless given. */
  readonly ca?: TextSource;
  /** The name on the server's certificate, where it is not the host of the URL. */
  readonly tlsServerName?: string;
  /** `none` talks to anybody who answers, and tells them all secrets. */
  readonly verification?: "full" | "none";
  readonly user?: EndpointUser;
}

export interface EndpointUser {
  /** A bearer token. */
  readonly token?: TextSource;
  /** Gives the token that is good at the moment, and another one than that which the server has just refused. */
  readonly tokenSource?: (refused: string | undefined) => Promise<string>;
  /** Both in PEM. */
  readonly certificate?: TextSource;
  readonly key?: TextSource;
  /** A program that is asked for a token or a certificate. */
  readonly exec?: ExecPlugin;
  /** In whose name to act, where that is somebody else. */
  readonly impersonation?: Impersonation;
}

export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  readonly command: string;
  readonly args: readonly string[];
  /** Besides this process's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly provideClusterInfo: boolean;
  /** Told to people who do not have the program. */
  readonly installHint?: string;
}

export interface Impersonation {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}
