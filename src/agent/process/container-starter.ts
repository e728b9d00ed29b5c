/** Starts containers: resolves the command, writes the files of the run, and starts its shim. */
import { mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { readLog } from "../logs/log-reader.ts";
import { LogWriter } from "../logs/log-writer.ts";
import type { ContainerExit, ContainerStart, HostMount, LogView, Program } from "../runtime-handler.ts";
import { ContainerRun, type ContainerRunOptions } from "./container-run.ts";
import { hostFiles, machinePlacesOf } from "./host-files.ts";
import { CONTAINER_NAMESPACES, SHARED_NETWORK_HELP } from "./isolation.ts";
import { findListenAdvice } from "./listen-advice.ts";
import { planMounts } from "./mount-plan.ts";
import { mountScript } from "./mount-script.ts";
import type { ProcessHost } from "./process-host.ts";
import { findProcessImage, missingImageText, resolveCommand } from "./process-images.ts";
import type { ProcessPod } from "./process-pod.ts";
import { ProcessTree, RUN_VARIABLE } from "./process-tree.ts";
import { namesIn, writeRecord, writeWhole, type RunRecord } from "./run-folder.ts";
import { quoteWords } from "./shell-words.ts";
import { startScript } from "./start-script.ts";
import { portVariables, surroundingsOf } from "./surroundings.ts";

const ID_BYTES = 32;
/** A program's last words before it ends. */
const LAST_LINES: LogView = {
  ...{ follow: false, timestamps: false, stream: "All", tailLines: 30 },
  ...{ sinceMs: undefined, limitBytes: 64 * 1024 },
};

export class ContainerStarter {
  readonly #host: ProcessHost;

  constructor(host: ProcessHost) {
    this.#host = host;
  }

  /** Rejects with a message for the user if the container cannot be created. */
  async start(pod: ProcessPod, order: ContainerStart & { readonly program: Program }): Promise<ContainerRun> {
    const { container, program, attempt } = order;
    const command = resolveCommand(
      findProcessImage(this.#host.options.images, container.image ?? ""),
      program,
    );
    if (command === undefined) throw new Error(missingImageText(container.image ?? ""));
    const variables = pod.hasNamespaces ? [] : await this.#assignPorts(pod, program);
    const folder = this.#makeFolder(pod, container.name, attempt);
    const token = this.#host.loop.random("containers").uuid();
    const cgroup = this.#host.cgroup(pod.uid, container.name);
    cgroup?.make(program.limits);
    const record: RunRecord = {
      id: Buffer.from(this.#host.loop.random("containers").bytes(ID_BYTES)).toString("hex"),
      name: container.name,
      attempt,
      imageId: imageIdOf(command),
      token,
      logPath: program.logPath,
      stdin: program.stdin,
      stdinOnce: program.stdinOnce,
      tty: program.tty,
      surroundings: surroundingsOf({
        pod: order.pod,
        program,
        hostname: pod.record.hostname,
        cgroupFiles: cgroup?.joinFiles ?? [],
        api: pod.hasNetwork ? undefined : this.#host.options.api,
        hasNamespaces: pod.hasNamespaces,
        hasUserNamespace: pod.hasNamespaces && this.#host.owner === "user",
        variables: pod.hasNamespaces ? [] : [...variables, [RUN_VARIABLE, token]],
      }),
    };
    const mounts = this.#mounts(pod, folder, program);
    writeWhole(join(folder, "start.sh"), startScript({ command, surroundings: record.surroundings, mounts }));
    if (program.stdin) writeWhole(join(folder, "stdin"), "");
    writeRecord(folder, record);
    const run = this.#follow(pod, folder, record);
    await run.start(this.#host.shim, this.#starterWords(pod, folder, record));
    return run;
  }

  /** Takes over a run of an earlier agent process. */
  async adopt(
    pod: ProcessPod,
    { folder, record }: { readonly folder: string; readonly record: RunRecord },
  ): Promise<ContainerRun> {
    const run = this.#follow(pod, folder, record);
    await run.adopt();
    return run;
  }

  #follow(pod: ProcessPod, folder: string, record: RunRecord): ContainerRun {
    const { loop, options } = this.#host;
    const limits = options.logLimits === undefined ? {} : { limits: options.logLimits };
    const runOptions: ContainerRunOptions = {
      loop,
      folder,
      record,
      log: new LogWriter({ path: record.logPath, loop, ...limits }),
      tree: new ProcessTree(folder, { token: record.token, hasNamespace: pod.hasNamespaces }),
      explainExit: (exitCode) => this.#explainExit(pod, record, exitCode),
      failed: (error) =>
        options.log.error("cannot follow a container", { pod: pod.uid, container: record.name, error }),
    };
    return new ContainerRun(runOptions);
  }

  async #explainExit(
    pod: ProcessPod,
    { name, logPath }: RunRecord,
    exitCode: number,
  ): Promise<Pick<ContainerExit, "reason" | "advice">> {
    if (this.#host.cgroup(pod.uid, name)?.wasOutOfMemory() === true) return { reason: "OOMKilled" };
    if (exitCode === 0 || pod.hasNamespaces) return {};
    const output = await textOf(readLog(logPath, LAST_LINES));
    const advice = findListenAdvice(output, pod.ports);
    return advice === undefined ? {} : { advice };
  }

  /** Files of earlier runs go; their logs stay. */
  #makeFolder(pod: ProcessPod, container: string, attempt: number): string {
    const parent = join(pod.folder, "containers", container);
    for (const name of namesIn(parent)) rmSync(join(parent, name), { recursive: true, force: true });
    const folder = pod.runFolder(container, attempt);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  #mounts(pod: ProcessPod, folder: string, { mounts, rights }: Program): string | undefined {
    if (!pod.hasNamespaces) {
      refuseMounts(mounts);
      return undefined;
    }
    const stage = join(hostFiles.resolve(folder), "stage");
    const plan = planMounts(mounts, hostFiles, machinePlacesOf(this.#host.options.dataDir));
    return mountScript(plan, { stage, hasReadOnlyRoot: rights.hasReadOnlyRoot }, hostFiles);
  }

  #starterWords(pod: ProcessPod, folder: string, { tty }: RunRecord): readonly string[] {
    const words = [...this.#enterPod(pod), "sh", join(folder, "start.sh")];
    return tty ? ["script", "-qefc", quoteWords(words), "/dev/null"] : words;
  }

  /** Throws if the namespaces are gone: the script would mount volumes on the machine. */
  #enterPod(pod: ProcessPod): readonly string[] {
    if (!pod.hasNamespaces) return [];
    const holder = this.#host.holders.find(pod.folder);
    if (holder === undefined) throw new Error("the holder of the pod's namespaces has ended");
    return [...this.#host.enterWords(holder.pid, pod.record.namespaces), ...CONTAINER_NAMESPACES];
  }

  /** One port of the machine for each port of the pod, the same for all its containers and runs. */
  async #assignPorts(pod: ProcessPod, { ports }: Program): Promise<readonly (readonly [string, string])[]> {
    const assigned = new Map(pod.record.ports);
    for (const { containerPort, hostPort } of ports)
      if (!assigned.has(containerPort)) assigned.set(containerPort, hostPort ?? (await freePort()));
    if (assigned.size > pod.record.ports.length) {
      pod.record = { ...pod.record, ports: [...assigned] };
      pod.save();
    }
    return portVariables(ports, assigned);
  }
}

export function imageIdOf(command: readonly string[]): string {
  return `process://${command[0] ?? ""}`;
}

/** Where the agent's own files and the token of the pod are without a mount namespace: nowhere. */
const TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Without a mount namespace, a volume at an absolute path would change the machine's own files. */
function refuseMounts(mounts: readonly HostMount[]): void {
  const refused = mounts.filter(
    ({ volume, hostPath, containerPath }) =>
      volume !== undefined && hostPath !== containerPath && containerPath !== TOKEN_FOLDER,
  );
  if (refused.length === 0) return;
  const paths = refused.map(({ containerPath }) => containerPath).join(", ");
  throw new Error(
    `cannot mount at ${paths}: process pods on this node share the files of the machine; ${SHARED_NETWORK_HELP}, ` +
      "or use a hostPath volume at the same path",
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
