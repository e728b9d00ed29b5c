/** When the programs of `agnhost`, Kubernetes' own image for tests, answer a probe. They listen on ports that are known, whatever a pod says of its ports. */
import type { Container, Probe } from "../../api/generated/types/core-v1.ts";
import { findImageReference } from "../../api/values/image-reference.ts";
import { ALWAYS, NEVER, type Span } from "./span.ts";

interface Program {
  readonly port: number;
  /** When the path is answered well; all of them always if absent. */
  readonly answers?: (path: string, flags: readonly string[]) => Span;
}

/** It is well for ten seconds, and then only says so where nobody asks for its health. */
const AILING: Span = { fromMs: 0, untilMs: 10_000 };

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["liveness", { port: 8080, answers: (path) => (/(?:^\/|=%2F)healthz$/.test(path) ? AILING : ALWAYS) }],
  ["test-webserver", { port: 80 }],
  ["serve-hostname", { port: 9376 }],
  ["grpc-health-checking", { port: 5000, answers: (_path, flags) => untilToldUnhealthy(flags) }],
]);

/** Undefined where this image has no say: another one, a program not listed here, one that is told its port, a probe by command. */
export function findTestImageAnswer(probe: Probe, container: Container): Span | undefined {
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

function untilToldUnhealthy(flags: readonly string[]): Span {
  const seconds = flags.map((flag) => /^--delay-unhealthy-sec=(\d{1,9})$/.exec(flag)?.[1]).find(Boolean);
  return seconds === undefined ? ALWAYS : { fromMs: 0, untilMs: Number(seconds) * 1000 };
}
