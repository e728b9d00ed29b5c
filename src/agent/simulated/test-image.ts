/**
 * Derives probe results for programs of `agnhost`, the test image of Kubernetes. The programs listen on fixed
 * ports, independent of the ports in the pod's spec.
 */
import type { Container, Probe } from "../../api/generated/types/core-v1.ts";
import { findImageReference } from "../../api/values/image-reference.ts";
import { ALWAYS, NEVER, type TimeSpan } from "./time-span.ts";

interface Program {
  readonly port: number;
  /** Times in which the path returns success; absent for always. */
  readonly answers?: (path: string, flags: readonly string[]) => TimeSpan;
}

/** The program is healthy for ten seconds. Afterwards only its health path fails. */
const HEALTHY_AT_FIRST: TimeSpan = { fromMs: 0, untilMs: 10_000 };

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  [
    "liveness",
    { port: 8080, answers: (path) => (/(?:^\/|=%2F)healthz$/.test(path) ? HEALTHY_AT_FIRST : ALWAYS) },
  ],
  ["test-webserver", { port: 80 }],
  ["serve-hostname", { port: 9376 }],
  ["grpc-health-checking", { port: 5000, answers: (_path, flags) => untilUnhealthy(flags) }],
]);

/**
 * Undefined when this file does not apply: another image, an unknown program, a configured port, an exec
 * probe.
 */
export function findTestImageAnswer(probe: Probe, container: Container): TimeSpan | undefined {
  const [name = "", ...flags] = container.args ?? [];
  const program = PROGRAMS.get(name);
  if (program === undefined || !isTestImage(container) || flags.some((flag) => /port\b/.test(flag)))
    return undefined;
  const port = findAskedPort(probe, container);
  if (port === undefined) return undefined;
  if (port !== program.port) return NEVER;
  const { answers } = program;
  if (answers === undefined || probe.tcpSocket !== undefined) return ALWAYS;
  return answers(probe.httpGet?.path ?? "/", flags);
}

function findAskedPort(probe: Probe, { ports = [] }: Container): number | undefined {
  const asked = (probe.httpGet ?? probe.tcpSocket ?? probe.grpc)?.port;
  const named = ports.find(({ name }) => name === asked);
  return asked === undefined ? undefined : (named?.containerPort ?? Number(asked));
}

function isTestImage({ command = [], image = "" }: Container): boolean {
  const path = findImageReference(image)?.path;
  return command.length === 0 && path !== undefined && /(?:^|\/)agnhost$/.test(path);
}

function untilUnhealthy(flags: readonly string[]): TimeSpan {
  const seconds = flags.map((flag) => /^--delay-unhealthy-sec=(\d{1,9})$/.exec(flag)?.[1]).find(Boolean);
  return seconds === undefined ? ALWAYS : { fromMs: 0, untilMs: Number(seconds) * 1000 };
}
