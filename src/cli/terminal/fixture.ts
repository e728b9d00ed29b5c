/** A terminal that records what is written, for tests. */
import type { ScreenSize } from "./frame.ts";
import type { FullScreen, TerminalListener } from "./terminal.ts";

export interface RecordingScreen extends FullScreen {
  size: ScreenSize;
  readonly written: string[];
  readonly calls: string[];
  listener: TerminalListener | undefined;
  /** Writes wait for `drain`. */
  isSlow: boolean;
  drain(): void;
  type(text: string): void;
}

export function recordingScreen(size: ScreenSize): RecordingScreen {
  const waiting: (() => void)[] = [];
  const screen: RecordingScreen = {
    size,
    written: [],
    calls: [],
    listener: undefined,
    isSlow: false,
    enter(listener) {
      screen.calls.push("enter");
      screen.listener = listener;
    },
    leave() {
      if (screen.listener !== undefined) screen.calls.push("leave");
      screen.listener = undefined;
    },
    write(text) {
      screen.written.push(text);
      return screen.isSlow ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve();
    },
    suspend() {
      screen.calls.push("suspend");
    },
    drain() {
      screen.isSlow = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
    type(text) {
      screen.listener?.onInput(Buffer.from(text));
    },
  };
  return screen;
}
