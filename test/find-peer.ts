/**
 * Real programs that some tests run against. A machine without one skips those tests and says what to install; with
 * SETPOINT_REQUIRE_PEERS=1, as CI sets it, a missing peer is a failure instead.
 */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

export type PeerName = "etcd" | "fish" | "kubectl" | "nft" | "zsh";

const HOW_TO_INSTALL: Readonly<Record<PeerName, string>> = {
  etcd: "apt-get install etcd-server",
  fish: "apt-get install fish",
  kubectl: "apt-get install kubernetes-client",
  nft: "apt-get install nftables",
  zsh: "apt-get install zsh",
};

export type Peer =
  | { readonly state: "available"; readonly path: string }
  | { readonly state: "missing"; readonly message: string }
  | { readonly state: "required"; readonly message: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** Looks for the program on PATH; says what to install if it is absent. */
export function findPeer(name: PeerName, env: Environment = process.env): Peer {
  const path = (env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isExecutable);
  if (path !== undefined) return { state: "available", path };
  const message = `needs ${name} on PATH: ${HOW_TO_INSTALL[name]}`;
  return { state: env["SETPOINT_REQUIRE_PEERS"] === "1" ? "required" : "missing", message };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
