/** This machine as a node of the cluster, which runs process pods. */
import type { ApiAddress } from "../../agent/process/api-gateway.ts";
import { findIsolation, type Isolation } from "../../agent/process/isolation.ts";
import { machineSetup } from "../../agent/process/machine-setup.ts";
import { EGRESS_FLAG, findEgressProblem } from "../../agent/process/pod-egress.ts";
import { ProcessHandler } from "../../agent/process/process-handler.ts";
import { parseProcessImage } from "../../agent/process/process-images.ts";
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { ClusterOptions } from "../options.ts";
import type { MachineNode } from "./loops.ts";

/** At the end of a cluster: `up` ends within five seconds. */
const END = { signal: "SIGTERM", graceMs: 3000 };

/** Error text about the mapping of an image; undefined when it is valid. */
export function imageProblem(text: string): string | undefined {
  try {
    parseProcessImage(text);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** Undefined for a cluster without such a node. */
export async function machineNode(
  { machine, dataDir, podCidrs }: Pick<ClusterOptions, "machine" | "dataDir" | "podCidrs">,
  { loop, api }: { readonly loop: Loop; readonly api: ApiAddress },
): Promise<MachineNode | undefined> {
  if (machine === undefined) return undefined;
  const isolation = await findIsolation(loop);
  const egress = machine.egress === true;
  if (egress) await checkEgress(loop, isolation);
  const images = machine.images.map(parseProcessImage);
  return {
    setup: machineSetup({ dataDir, isolation, podCidrs, egress }),
    handler: (parts) => (listener) =>
      new ProcessHandler({
        listener,
        ...parts,
        dataDir,
        isolation,
        egress,
        images,
        api,
        endPods: machine.keepsPods ? undefined : END,
      }),
  };
}

/** Throws if this machine cannot give pods a way to other networks. */
async function checkEgress(loop: Loop, isolation: Isolation): Promise<void> {
  if (isolation.type === "shared" || isolation.owner === "user")
    throw new Error(`${EGRESS_FLAG} needs root on Linux, with network namespaces`);
  const problem = await findEgressProblem(loop);
  if (problem !== undefined) throw new Error(problem);
}
