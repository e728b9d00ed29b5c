/** This machine as a node of the cluster, which runs process pods. */
import type { ApiAddress } from "../../agent/process/api-gateway.ts";
import { findIsolation } from "../../agent/process/isolation.ts";
import { machineSetup } from "../../agent/process/machine-setup.ts";
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
  const images = machine.images.map(parseProcessImage);
  return {
    setup: machineSetup({ dataDir, isolation, podCidrs }),
    handler: (parts) => (listener) =>
      new ProcessHandler({
        listener,
        ...parts,
        dataDir,
        isolation,
        images,
        api,
        endPods: machine.keepsPods ? undefined : END,
      }),
  };
}
