/** Options of the connections to kubelets, under kube-apiserver's names. */
import { parseDuration } from "../api/values/time.ts";
import type { KubeletFlags } from "../cluster/files/kubelet-files.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

const DEFAULT_TIMEOUT = "5s";
const ADDRESS_TYPES = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"] as const;

export const kubeletOptions: readonly OptionSpec[] = [
  {
    flags: "--kubelet-certificate-authority <file>",
    help: "path of the CA that signs kubelets' certificates",
  },
  {
    flags: "--kubelet-preferred-address-types <list>",
    help: "types of node addresses to dial, in order of preference",
    fallback: ADDRESS_TYPES.join(","),
  },
  {
    flags: "--kubelet-timeout <duration>",
    help: "time to connect to a kubelet, and to read its figures",
    fallback: DEFAULT_TIMEOUT,
  },
];

/** Undefined without options. */
export function parseKubelet(
  args: Arguments,
  path: (name: string) => string | undefined,
): KubeletFlags | undefined {
  const caFile = path("kubeletCertificateAuthority");
  const types = findText(args, "kubeletPreferredAddressTypes");
  const timeout = findText(args, "kubeletTimeout");
  if (caFile === undefined && types === undefined && timeout === undefined) return undefined;
  return {
    caFile,
    addressTypes: types === undefined ? undefined : parseTypes(types),
    timeoutMs: timeout === undefined ? undefined : parseTimeout(timeout),
  };
}

function parseTypes(text: string): KubeletFlags["addressTypes"] {
  const words = text.split(",").map((word) => word.trim());
  const types = words.flatMap((word) => ADDRESS_TYPES.find((type) => type === word) ?? []);
  if (types.length === words.length && new Set(types).size === types.length) return types;
  throw new UsageError(
    `--kubelet-preferred-address-types must be a list of ${ADDRESS_TYPES.join(", ")}, each once, found "${text}"`,
  );
}

function parseTimeout(text: string): number {
  const message = `--kubelet-timeout must be a duration like 5s, more than 0, found "${text}"`;
  let ms: number;
  try {
    ms = Number(parseDuration(text) / 1_000_000n);
  } catch (cause) {
    throw new UsageError(message, { cause });
  }
  if (ms <= 0) throw new UsageError(message);
  return ms;
}
