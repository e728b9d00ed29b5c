/**
 * Derives the times in which a probe succeeds. They follow from the commands of the probe and the container,
 * or from a known image.
 */
import type { Container, Probe } from "../../api/generated/types/core-v1.ts";
import { findSimpleCommand, findReadFile } from "./simple-command.ts";
import { findTestImageAnswer } from "./test-image.ts";
import { ALWAYS, NEVER, type TimeSpan } from "./time-span.ts";

/** Kubernetes' default timeout. */
const TIMEOUT_SECONDS = 1;

export function simulatedProbe(probe: Probe | undefined, container: Container): TimeSpan {
  if (probe === undefined) return ALWAYS;
  const words = probe.exec?.command;
  if (words === undefined) return findTestImageAnswer(probe, container) ?? ALWAYS;
  const run = findSimpleCommand(words)?.run;
  if (run === undefined) return whileFileIsThere(findReadFile(words), container);
  const isInTime = run.afterMs <= (probe.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000;
  return run.exitCode === 0 && isInTime ? ALWAYS : NEVER;
}

/** A file that the container's command does not mention counts as part of its image. */
function whileFileIsThere(file: string | undefined, { command = [], args = [] }: Container): TimeSpan {
  if (file === undefined) return ALWAYS;
  return findSimpleCommand([...command, ...args])?.files.get(file) ?? ALWAYS;
}
