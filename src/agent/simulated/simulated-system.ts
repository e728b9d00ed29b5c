/** System facts of a node without a machine, deterministic for its name, so that a restart changes nothing. */
import type { NodeSystemInfo } from "../../api/generated/types/core-v1.ts";

type System = Omit<NodeSystemInfo, "kubeletVersion" | "kubeProxyVersion">;

export function simulatedSystem(name: string): System {
  return {
    architecture: "amd64",
    bootID: identityOf(name, 2),
    containerRuntimeVersion: "simulated://1.0.0",
    kernelVersion: "6.12.0-setpoint",
    machineID: identityOf(name, 0).replaceAll("-", ""),
    operatingSystem: "linux",
    osImage: "Setpoint (simulated)",
    systemUUID: identityOf(name, 1),
  };
}

function identityOf(name: string, salt: number): string {
  const words = [0, 1, 2, 3].map((part) => hashOf(`${name}/${salt}/${part}`));
  const hex = words.map((word) => word.toString(16).padStart(8, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The hash function FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
